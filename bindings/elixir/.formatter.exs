[
  inputs: ["{mix,.formatter}.exs", "{lib,test,examples}/**/*.{ex,exs}", "../../lab/elixir/*.exs"],
  line_length: 110
]
