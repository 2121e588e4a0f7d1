# Helpers of the scripts that make packages; they source this file.

# Makes an archive of a folder with the commit's time stamps, so that equal content gives equal bytes:
#     archive FOLDER NAME ARCHIVE.tar.gz
# NAME is a path in FOLDER.
archive() {
	tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$(git log -1 --format=%ct)" -C "$1" -cf - "$2" | gzip -9n >"$3"
}
