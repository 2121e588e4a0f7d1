require "./spec_helper"

HEADER = File.read(ROOT / "bindings/c/include/sealane.h").gsub(/\/\*.*?\*\//m, "")

# Returns the type of Crystal for a type of the header.
private def crystal_type(type : String) : String
  type = type.gsub("const ", "")
  base = type.delete(" *")
  stars = "*" * type.count('*')
  case base
  when "void"   then "Void" + stars
  when "char"   then "LibC::Char" + stars
  when "size_t" then "LibC::SizeT" + stars
  when /^u?int\d+_t$/
    base.rchop("_t").sub("uint", "UInt").sub("int", "Int") + stars
  when "sealane_error", "sealane_aead_description", "sealane_options", "sealane_source"
    base.lchop("sealane_").camelcase + stars
  else
    # The type of a handle is the pointer.
    base.lchop("sealane_").camelcase + stars.rchop
  end
end

# Returns the lines that declare the functions of the header.
private def declarations : Array(String)
  HEADER.scan(/^([a-z][^\n]*[ *])(sealane_\w+)\(([^)]*)\);/m).map do |match|
    arguments = match[3].gsub(/\s+/, " ").split(", ").reject("void").map do |argument|
      name = argument[/\w+$/]
      # These two are keywords of Crystal.
      label = {"out" => "output", "with" => "file_keys"}.fetch(name, name)
      "#{label} : #{crystal_type(argument.rchop(name))}"
    end
    list = arguments.empty? ? "" : "(#{arguments.join(", ")})"
    result = match[1].strip == "void" ? "" : " : #{crystal_type(match[1])}"
    "  fun #{match[2].lchop("sealane_")} = #{match[2]}#{list}#{result}"
  end
end

describe "LibSealane" do
  it "declares the functions of the header" do
    found = File.read_lines(ROOT / "bindings/crystal/src/sealane/lib_sealane.cr").select(&.starts_with?("  fun "))
    found.should eq declarations
    found.size.should be > 80
  end

  it "has the constants of the header" do
    found = {} of String => Int128
    {% for name in LibSealane.constants.reject { |name| LibSealane.constant(name).is_a?(TypeNode) } %}
      found[{{ name.stringify }}] = LibSealane::{{ name }}.to_i128
    {% end %}
    expected = HEADER.scan(/^#define SEALANE_(\w+) ([^\n]+)$/m).to_h do |match|
      {match[1], match[2].strip == "UINT64_MAX" ? UInt64::MAX.to_i128 : match[2].delete("()").to_i128}
    end
    found.should eq expected
  end

  it "has structures of the sizes of the header" do
    sizeof(LibSealane::Error).should eq 256
    sizeof(LibSealane::AeadDescription).should eq 128
    sizeof(LibSealane::Options).should eq 32
    sizeof(LibSealane::Source).should eq 40
  end
end
