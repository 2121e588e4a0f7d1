//! The page with all commands of a program.

use clap::{Arg, Command};

/// Returns the page of a program.
pub(crate) fn page(mut program: Command) -> String {
    // Fills in the usage lines and the names of the commands.
    program.build();
    let mut text = String::from("# Command line\n\n");
    text += &format!("{}\n", paragraphs(&program));
    text += "\n| command | content |\n|---|---|\n";
    for command in visible(&program) {
        let name = command.get_name();
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        text += &format!("| [`sealane {name}`](#sealane-{name}) | {} |\n", cell(&about));
    }
    for command in visible(&program) {
        section(command, 2, &mut text);
    }
    text
}

/// Appends the sections of a command and its subcommands.
fn section(command: &Command, level: usize, text: &mut String) {
    let name = command.get_bin_name().unwrap_or_default();
    *text += &format!("\n{} {name}\n\n{}\n", "#".repeat(level), paragraphs(command));
    let usage = command.clone().render_usage().to_string();
    *text += &format!("\n```text\n{}\n```\n", usage.trim_start_matches("Usage: ").trim());
    let described: Vec<_> = command
        .get_arguments()
        .filter(|argument| {
            !argument.is_hide_set() && !["help", "version"].contains(&argument.get_id().as_str())
        })
        .collect();
    if !described.is_empty() {
        *text += "\n| argument | meaning |\n|---|---|\n";
    }
    for argument in described {
        *text += &format!("| {} | {} |\n", names(argument), cell(&meaning(argument)));
    }
    for inner in visible(command) {
        section(inner, level + 1, text);
    }
}

fn visible(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|inner| inner.get_name() != "help")
}

/// Returns a command's long description. Empty lines separate its paragraphs.
fn paragraphs(command: &Command) -> String {
    let about = command.get_long_about().or_else(|| command.get_about());
    plain(&about.map(ToString::to_string).unwrap_or_default())
}

/// Returns the forms of an argument, such as `-o`, `--output OUT`.
fn names(argument: &Arg) -> String {
    let value = argument.get_value_names().filter(|_| argument.get_action().takes_values());
    let value = value.map(|names| names.join(" ")).unwrap_or_default();
    let mut forms: Vec<_> = argument.get_short().into_iter().map(|short| format!("-{short}")).collect();
    forms.extend(argument.get_long().map(|long| format!("--{long}")));
    match forms.last_mut() {
        Some(last) if !value.is_empty() => *last = format!("{last} {value}"),
        Some(_) => {}
        None => forms.push(value),
    }
    forms.iter().map(|form| format!("`{form}`")).collect::<Vec<_>>().join(", ")
}

fn meaning(argument: &Arg) -> String {
    let help = argument.get_long_help().or_else(|| argument.get_help());
    let mut text = help.map(ToString::to_string).unwrap_or_default();
    let values: Vec<_> = argument
        .get_possible_values()
        .iter()
        .filter(|value| !value.is_hide_set() && argument.get_action().takes_values())
        .map(|value| format!("`{}`", value.get_name()))
        .collect();
    if !values.is_empty() {
        text += &format!(". Values: {}", values.join(", "));
    }
    let defaults: Vec<_> =
        argument.get_default_values().iter().map(|value| format!("`{}`", value.to_string_lossy())).collect();
    if !defaults.is_empty() && argument.get_action().takes_values() {
        text += &format!(". Default: {}", defaults.join(", "));
    }
    text
}

/// Escapes Markdown characters and puts a text on one line.
fn cell(text: &str) -> String {
    plain(text).split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}

/// Escapes Markdown characters outside code.
fn plain(text: &str) -> String {
    let parts = text.split('`').enumerate();
    let escaped = parts.map(|(at, part)| match at % 2 {
        0 => part.replace('<', "&lt;").replace('*', "\\*").replace('_', "\\_").replace('[', "\\["),
        _ => part.to_owned(),
    });
    escaped.collect::<Vec<_>>().join("`")
}
