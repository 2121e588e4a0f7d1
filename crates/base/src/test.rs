//! Tests in a process of their own.

/// For a test that sets limits of its process: returns true in a child process that runs only the
/// test `name`. In the parent, runs that child and checks that it passes.
pub(crate) fn in_child(name: &str) -> bool {
    // Skips no test, but tells the child that it is one.
    const MARK: &str = "--skip=this-process-is-the-child";
    if std::env::args().any(|argument| argument == MARK) {
        return true;
    }
    let program = std::env::current_exe().unwrap();
    let child = std::process::Command::new(program).args([name, "--exact", MARK]).output().unwrap();
    let printed = String::from_utf8_lossy(&child.stdout);
    assert!(child.status.success() && printed.contains("1 passed"), "{printed}");
    false
}
