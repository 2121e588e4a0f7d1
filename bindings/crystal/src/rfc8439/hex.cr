# Hexadecimal text, as keys are usually printed.
module Crypto::Hex
  # Returns the bytes of hexadecimal digits; colons and white space may separate them. Any other
  # character is refused: a key with a typo would otherwise become another, shorter key.
  def self.bytes(input : String) : Bytes
    digits = String.build(input.bytesize) do |text|
      input.each_char_with_index do |char, index|
        next if char == ':' || char.whitespace?
        unless char.ascii? && char.hex?
          raise ArgumentError.new("expected hexadecimal digits with colons or white space, found another character " \
                                  "at position #{index}")
        end
        text << char
      end
    end
    raise ArgumentError.new("expected pairs of digits, found #{digits.size} digits") if digits.size.odd?
    digits.hexbytes
  end
end

# :nodoc:
module Crypto::HiddenKey
  # Hides the key.
  def inspect(io : IO) : Nil
    io << "#<" << self.class << '>'
  end

  # :ditto:
  def pretty_print(printer) : Nil
    printer.text(inspect)
  end
end
