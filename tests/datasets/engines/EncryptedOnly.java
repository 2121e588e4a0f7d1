import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.parquet.crypto.FileDecryptionProperties;
import org.apache.parquet.crypto.keytools.PropertiesDrivenCryptoFactory;

/** Refuses plaintext files, which the class that it extends allows. */
public final class EncryptedOnly extends PropertiesDrivenCryptoFactory {
    @Override
    public FileDecryptionProperties getFileDecryptionProperties(Configuration configuration, Path path) {
        FileDecryptionProperties found = super.getFileDecryptionProperties(configuration, path);
        return FileDecryptionProperties.builder().withKeyRetriever(found.getKeyRetriever()).build();
    }
}
