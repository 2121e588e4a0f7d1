//! Prints all commands of the program as a Markdown page, for the documentation site.
#![forbid(unsafe_code)]

mod page;

fn main() {
    print!("{}", page::page(cli::program()));
}
