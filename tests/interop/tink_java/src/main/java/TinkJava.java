import com.google.crypto.tink.Aead;
import com.google.crypto.tink.DeterministicAead;
import com.google.crypto.tink.InsecureSecretKeyAccess;
import com.google.crypto.tink.KeysetHandle;
import com.google.crypto.tink.Parameters;
import com.google.crypto.tink.RegistryConfiguration;
import com.google.crypto.tink.StreamingAead;
import com.google.crypto.tink.TinkJsonProtoKeysetFormat;
import com.google.crypto.tink.TinkProtoKeysetFormat;
import com.google.crypto.tink.aead.AeadConfig;
import com.google.crypto.tink.aead.AesGcmSivParameters;
import com.google.crypto.tink.aead.ChaCha20Poly1305Parameters;
import com.google.crypto.tink.aead.PredefinedAeadParameters;
import com.google.crypto.tink.aead.XAesGcmParameters;
import com.google.crypto.tink.daead.DeterministicAeadConfig;
import com.google.crypto.tink.daead.PredefinedDeterministicAeadParameters;
import com.google.crypto.tink.streamingaead.PredefinedStreamingAeadParameters;
import com.google.crypto.tink.streamingaead.StreamingAeadConfig;
import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.security.GeneralSecurityException;
import java.security.Security;
import java.util.Base64;
import java.util.Map;
import org.conscrypt.Conscrypt;

/** Responds to requests with Tink in Java: one line of JSON for each line of JSON on standard input. */
final class TinkJava {
  private static final byte[] NOTHING = new byte[0];

  public static void main(String[] arguments) throws Exception {
    Security.addProvider(Conscrypt.newProvider());
    AeadConfig.register();
    DeterministicAeadConfig.register();
    StreamingAeadConfig.register();
    var lines = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
    var out = new PrintStream(System.out, true, "UTF-8");
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      var response = new JsonObject();
      response.addProperty("Error", "");
      try {
        respond(JsonParser.parseString(line).getAsJsonObject(), response);
      } catch (Exception error) {
        response.addProperty("Error", error.toString());
      }
      out.println(response);
    }
  }

  private static Map<String, Parameters> templates() throws GeneralSecurityException {
    return Map.ofEntries(
        Map.entry("AES128_GCM", PredefinedAeadParameters.AES128_GCM),
        Map.entry("AES256_GCM", PredefinedAeadParameters.AES256_GCM),
        Map.entry(
            "AES256_GCM_RAW",
            com.google.crypto.tink.aead.AesGcmParameters.builder()
                .setKeySizeBytes(32)
                .setIvSizeBytes(12)
                .setTagSizeBytes(16)
                .setVariant(com.google.crypto.tink.aead.AesGcmParameters.Variant.NO_PREFIX)
                .build()),
        Map.entry(
            "AES128_GCM_SIV",
            AesGcmSivParameters.builder()
                .setKeySizeBytes(16)
                .setVariant(AesGcmSivParameters.Variant.TINK)
                .build()),
        Map.entry(
            "AES256_GCM_SIV",
            AesGcmSivParameters.builder()
                .setKeySizeBytes(32)
                .setVariant(AesGcmSivParameters.Variant.TINK)
                .build()),
        Map.entry(
            "CHACHA20_POLY1305",
            ChaCha20Poly1305Parameters.create(ChaCha20Poly1305Parameters.Variant.TINK)),
        Map.entry("XCHACHA20_POLY1305", PredefinedAeadParameters.XCHACHA20_POLY1305),
        Map.entry("XAES_256_GCM", XAesGcmParameters.create(XAesGcmParameters.Variant.TINK, 12)),
        Map.entry(
            "XAES_256_GCM_RAW", XAesGcmParameters.create(XAesGcmParameters.Variant.NO_PREFIX, 12)),
        Map.entry("XAES_256_GCM_160", XAesGcmParameters.create(XAesGcmParameters.Variant.TINK, 8)),
        Map.entry("AES256_SIV", PredefinedDeterministicAeadParameters.AES256_SIV),
        Map.entry(
            "AES128_GCM_HKDF_4KB", PredefinedStreamingAeadParameters.AES128_GCM_HKDF_4KB),
        Map.entry(
            "AES128_GCM_HKDF_1MB", PredefinedStreamingAeadParameters.AES128_GCM_HKDF_1MB),
        Map.entry(
            "AES256_GCM_HKDF_4KB", PredefinedStreamingAeadParameters.AES256_GCM_HKDF_4KB),
        Map.entry(
            "AES256_GCM_HKDF_1MB", PredefinedStreamingAeadParameters.AES256_GCM_HKDF_1MB),
        Map.entry(
            "AES256_CTR_HMAC_SHA256", PredefinedAeadParameters.AES256_CTR_HMAC_SHA256));
  }

  private static void respond(JsonObject asked, JsonObject response) throws Exception {
    String call = asked.get("Call").getAsString();
    if (call.equals("generate")) {
      write(KeysetHandle.generateNew(templates().get(asked.get("Template").getAsString())), response);
      return;
    }
    var access = InsecureSecretKeyAccess.get();
    KeysetHandle handle =
        asked.has("Binary")
            ? TinkProtoKeysetFormat.parseKeyset(bytes(asked.get("Binary")), access)
            : TinkJsonProtoKeysetFormat.parseKeyset(asked.get("Keyset").getAsString(), access);
    if (call.equals("rewrite")) {
      write(handle, response);
      return;
    }
    byte[] found = result(call, handle, bytes(asked.get("Data")), bytes(asked.get("AAD")));
    response.addProperty("Data", Base64.getEncoder().encodeToString(found));
  }

  private static void write(KeysetHandle handle, JsonObject response) throws Exception {
    var access = InsecureSecretKeyAccess.get();
    response.addProperty("Keyset", TinkJsonProtoKeysetFormat.serializeKeyset(handle, access));
    byte[] binary = TinkProtoKeysetFormat.serializeKeyset(handle, access);
    response.addProperty("Binary", Base64.getEncoder().encodeToString(binary));
  }

  private static byte[] result(String call, KeysetHandle handle, byte[] data, byte[] aad)
      throws Exception {
    var configuration = RegistryConfiguration.get();
    switch (call) {
      case "seal":
        return handle.getPrimitive(configuration, Aead.class).encrypt(data, aad);
      case "open":
        return handle.getPrimitive(configuration, Aead.class).decrypt(data, aad);
      case "daead-encrypt":
        return handle
            .getPrimitive(configuration, DeterministicAead.class)
            .encryptDeterministically(data, aad);
      case "daead-decrypt":
        return handle
            .getPrimitive(configuration, DeterministicAead.class)
            .decryptDeterministically(data, aad);
      case "write":
        var written = new ByteArrayOutputStream();
        try (OutputStream stream =
            handle.getPrimitive(configuration, StreamingAead.class).newEncryptingStream(written, aad)) {
          stream.write(data);
        }
        return written.toByteArray();
      case "read":
        return handle
            .getPrimitive(configuration, StreamingAead.class)
            .newDecryptingStream(new ByteArrayInputStream(data), aad)
            .readAllBytes();
      default:
        throw new IllegalArgumentException("no call " + call);
    }
  }

  private static byte[] bytes(JsonElement text) {
    return text == null || text instanceof JsonNull
        ? NOTHING
        : Base64.getDecoder().decode(text.getAsString());
  }
}
