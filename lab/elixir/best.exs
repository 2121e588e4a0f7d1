defmodule Best do
  @moduledoc "Times of short calls."

  @doc """
  Returns a call's 10th percentile in nanoseconds over 200 rounds of a millisecond.

  The rounds are short, so that some are not interrupted on a busy machine. The shortest may be a
  clock error.
  """
  def time(work) do
    calls = calibrate(work, 1)

    rounds =
      for _ <- 1..200 do
        before = System.monotonic_time(:nanosecond)
        repeat(calls, work)
        (System.monotonic_time(:nanosecond) - before) / calls
      end

    rounds |> Enum.sort() |> Enum.at(20)
  end

  defp calibrate(work, calls) do
    case :timer.tc(fn -> repeat(calls, work) end) do
      {us, _} when us > 1_000 -> calls
      _ -> calibrate(work, calls * 2)
    end
  end

  defp repeat(0, _work), do: :ok

  defp repeat(calls, work) do
    work.()
    repeat(calls - 1, work)
  end

  def row(cells), do: IO.puts("| " <> Enum.join(cells, " | ") <> " |")

  def ns(time) when time >= 10_000, do: "#{Float.round(time / 1000, 1)} us"
  def ns(time), do: "#{round(time)} ns"
end
