import java.nio.charset.StandardCharsets;
import java.util.Base64;
import org.apache.hadoop.conf.Configuration;
import org.apache.parquet.crypto.keytools.KeyToolkit;
import org.apache.parquet.crypto.keytools.KmsClient;

/** Master keys in the environment: the variable KEY_name holds the key "name" in base64. */
public final class StubKms implements KmsClient {
    @Override
    public void initialize(Configuration configuration, String id, String url, String token) {}

    @Override
    public String wrapKey(byte[] key, String name) {
        return KeyToolkit.encryptKeyLocally(key, master(name), name.getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public byte[] unwrapKey(String wrapped, String name) {
        return KeyToolkit.decryptKeyLocally(wrapped, master(name), name.getBytes(StandardCharsets.UTF_8));
    }

    private static byte[] master(String name) {
        return Base64.getDecoder().decode(System.getenv("KEY_" + name));
    }
}
