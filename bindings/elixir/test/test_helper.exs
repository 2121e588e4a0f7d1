Code.require_file("support.exs", __DIR__)

unless File.exists?(Support.program()) do
  IO.puts(:stderr, "NOT RUN: the tests with the program sealane, which `make -C bindings elixir` builds")
  ExUnit.configure(exclude: [:program])
end

# Only a guard against hanging: a busy machine is slow.
ExUnit.start(timeout: 600_000)
