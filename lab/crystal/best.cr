lib LibC
  # This process's nanoseconds on all processors.
  CPUTIME = 2
end

# The shortest of several runs, in turns, so that a slow moment of the machine hits all contenders.
# We measure processor time, including the garbage collector's, so other processes do not count.
class Best
  RUNS = 41

  def initialize
    @contenders = [] of {String, Int32, Proc(Int32, Nil)}
  end

  # Adds a contender. The block makes as many calls as its argument says; they take about
  # *microseconds*.
  def add(name : String, microseconds : Float64, &block : Int32 ->) : Nil
    @contenders << {name, {(5_000 / microseconds).to_i, 1}.max, block}
  end

  # Returns nanoseconds per call by name.
  def run : Hash(String, Float64)
    best = Hash(String, Float64).new(Float64::MAX)
    RUNS.times do
      @contenders.each do |name, calls, block|
        GC.collect
        from = cpu_time
        block.call(calls)
        spent = (cpu_time - from) / calls
        best[name] = {best[name], spent}.min
      end
    end
    best
  end

  private def cpu_time : Float64
    LibC.clock_gettime(LibC::CPUTIME, out time)
    time.tv_sec * 1e9 + time.tv_nsec
  end
end

# Bytes at another page offset than other arguments. A load after a store to the same page offset of
# another page waits for it.
def apart(size : Int32, place : Int32) : Bytes
  Bytes.new(size + place) { |i| (i % 251).to_u8 } + place
end
