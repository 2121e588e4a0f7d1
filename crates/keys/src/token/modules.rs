//! PKCS#11 modules: libraries loaded into the process, used by one thread at a time.
//!
//! A module is initialized for each call and finalized after it, so no session stays open: a forked
//! child must not use its parent's sessions, and as long as a program is logged in to a token, all
//! its other code can use the token too. A module stays loaded, because many do not survive being
//! unloaded.

use super::failure::Failure;
use super::uri::Uri;
use base::ForkGuard;
use cryptoki::context::{CInitializeArgs, CInitializeFlags, Function, Pkcs11};
use cryptoki::error::{Error as ModuleError, RvError};
use std::env::consts::{ARCH, DLL_PREFIX, DLL_SUFFIX};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// The default module. It leads to the modules configured on the machine.
const DEFAULT: &str = "p11-kit-proxy";

/// The process mark while one of the process's threads uses a module, else 0. A lock that a forked
/// child can recognize as its parent's: it would never be released.
static USER: AtomicU64 = AtomicU64::new(0);

/// `CKR_AEAD_DECRYPT_FAILED` of PKCS#11 3.0; the crate has no name for it
const AEAD_DECRYPT_FAILED: std::ffi::c_ulong = 0x35;

static LOADED: Mutex<Vec<(PathBuf, Pkcs11)>> = Mutex::new(Vec::new());

/// An initialized module. No other thread uses it through this library.
pub(super) struct Module {
    pub(super) pkcs11: Pkcs11,
    /// Whether another library of the process had initialized it; it must stay initialized.
    shared: bool,
    _lock: ModuleLock,
}

impl Module {
    /// Waits until no other thread uses a module, then loads and initializes the module of the URI.
    pub(super) fn open(uri: &Uri) -> Result<Self, Failure> {
        let lock = ModuleLock::take()?;
        let pkcs11 = load(uri)?;
        let shared = match pkcs11.initialize(CInitializeArgs::new(CInitializeFlags::OS_LOCKING_OK)) {
            Ok(()) => false,
            Err(ModuleError::Pkcs11(RvError::CryptokiAlreadyInitialized, _)) => true,
            Err(error) => return Err(error.into()),
        };
        Ok(Self { pkcs11, shared, _lock: lock })
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        if !self.shared {
            // An error changes nothing: the next call initializes the module again and reports what
            // is wrong.
            let _ = self.pkcs11.clone().finalize();
        }
    }
}

/// The right to use modules, until it is dropped.
struct ModuleLock;

impl ModuleLock {
    fn take() -> Result<Self, Failure> {
        let process = ForkGuard::new()?.process();
        loop {
            match USER.compare_exchange(0, process, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return Ok(Self),
                // A call takes milliseconds at least, so this wait does not matter.
                Err(user) if user == process => thread::sleep(Duration::from_millis(1)),
                Err(_) => {
                    return Err(Failure::Refused(
                        "this process was forked while its parent used a token, so it cannot use one; start a new \
                         process, or fork at another time"
                            .into(),
                    ));
                }
            }
        }
    }
}

impl Drop for ModuleLock {
    fn drop(&mut self) {
        USER.store(0, Ordering::Release);
    }
}

fn load(uri: &Uri) -> Result<Pkcs11, Failure> {
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    let mut reason = None;
    let candidates = candidates(uri);
    for path in &candidates {
        if let Some((_, module)) = loaded.iter().find(|(name, _)| name == path) {
            return Ok(module.clone());
        }
        match Pkcs11::new(path) {
            Ok(module) => {
                loaded.push((path.clone(), module.clone()));
                return Ok(module);
            }
            // The error of an existing file says more than that of a missing one.
            Err(error) => {
                if reason.is_none() || path.exists() {
                    reason = Some(unloadable(path, &error));
                }
            }
        }
    }
    let advice = match (&uri.module_path, &uri.module_name) {
        (None, None) => "; name one with module-path, or install p11-kit, whose proxy is used without a name",
        (None, Some(_)) => "; use module-path for a module in another folder",
        _ => "",
    };
    Err(Failure::NotFound(reason.unwrap_or_default() + advice))
}

fn unloadable(path: &Path, error: &ModuleError) -> String {
    let path = path.display();
    match error {
        ModuleError::LibraryLoading(error) => format!("the PKCS#11 module {path} cannot be loaded: {error}"),
        ModuleError::MissingSymbol(name) => {
            format!("{path} is a library, but no PKCS#11 module: it has no function {name}")
        }
        error => format!("the PKCS#11 module {path} cannot be loaded: {}", said(error)),
    }
}

/// Returns possible paths of the module. On Unix, a path without a folder is looked up in the
/// system's folders. Windows would also look in folders that others can write to.
fn candidates(uri: &Uri) -> Vec<PathBuf> {
    let name = uri.module_name.as_deref();
    let files = |name: &str| [format!("{DLL_PREFIX}{name}{DLL_SUFFIX}"), format!("{name}{DLL_SUFFIX}")];
    match (&uri.module_path, name) {
        (Some(path), Some(name)) if path.is_dir() => files(name).map(|file| path.join(file)).to_vec(),
        (Some(path), _) => vec![path.clone()],
        (None, name) if cfg!(windows) => {
            let system = std::env::var_os("SystemRoot").map(PathBuf::from).filter(|path| path.is_absolute());
            let folder = system.map(|root| root.join("System32"));
            folder.map_or(Vec::new(), |it| files(name.unwrap_or(DEFAULT)).map(|file| it.join(file)).to_vec())
        }
        (None, name) => {
            let multiarch = format!("/usr/lib/{ARCH}-linux-gnu");
            let folders = [
                String::new(),
                format!("{multiarch}/pkcs11"),
                "/usr/lib64/pkcs11".into(),
                "/usr/lib/pkcs11".into(),
                "/usr/local/lib/pkcs11".into(),
                "/usr/local/lib".into(),
                "/opt/homebrew/lib".into(),
                format!("{multiarch}/softhsm"),
                "/usr/lib/softhsm".into(),
            ];
            let files = files(name.unwrap_or(DEFAULT));
            folders.iter().flat_map(|folder| files.iter().map(|file| Path::new(folder).join(file))).collect()
        }
    }
}

impl From<ModuleError> for Failure {
    fn from(error: ModuleError) -> Self {
        use RvError as Rv;
        let ModuleError::Pkcs11(code, _) = &error else { return Self::Service(said(&error)) };
        let text = match code {
            Rv::PinIncorrect | Rv::PinInvalid | Rv::PinLenRange => {
                "the token refuses the PIN; it was tried once, because a token is locked after some wrong PINs"
            }
            Rv::PinLocked => {
                "the PIN is locked after too many wrong ones; unlock it with the software of the token"
            }
            Rv::PinExpired => "the PIN has expired; set another one with the software of the token",
            Rv::UserPinNotInitialized => "the token has no PIN yet; set one with the software of the token",
            Rv::KeyFunctionNotPermitted | Rv::KeyTypeInconsistent | Rv::KeySizeRange => {
                "the token does not encrypt and decrypt with this key"
            }
            Rv::MechanismInvalid => {
                "the token has no AES-GCM (CKM_AES_GCM) or RSA-OAEP (CKM_RSA_PKCS_OAEP) for this key"
            }
            Rv::TokenNotPresent | Rv::SlotIdInvalid | Rv::TokenNotRecognized => {
                return Self::NotFound(format!("there is no token in the slot: {}", said(&error)));
            }
            _ => return Self::Service(said(&error)),
        };
        Self::Refused(format!("{text} ({})", said(&error)))
    }
}

/// Returns what a module said, in the standard's names, such as `CKR_PIN_LOCKED from C_Login`.
fn said(error: &ModuleError) -> String {
    match error {
        ModuleError::Pkcs11(RvError::VendorDefined(code) | RvError::UnknownErrorCode(code), function) => {
            format!("the module returned the code {code:#x} from C_{function:?}")
        }
        ModuleError::Pkcs11(code, function) => {
            let name: String = format!("{code:?}").chars().fold("CKR".into(), |mut name: String, letter| {
                if letter.is_ascii_uppercase() {
                    name.push('_');
                }
                name.push(letter.to_ascii_uppercase());
                name
            });
            format!("the module returned {name} from C_{function:?}")
        }
        ModuleError::NullFunctionPointer => "the module lacks a function that is needed".into(),
        // The text names a failed conversion and no value.
        error => format!("the module returned a value that cannot be used: {error}"),
    }
}

/// Returns whether a module refused a ciphertext. Some only have the code `CKR_GENERAL_ERROR` for
/// it.
pub(super) fn is_bad_ciphertext(error: &ModuleError) -> bool {
    matches!(
        error,
        ModuleError::Pkcs11(
            RvError::EncryptedDataInvalid
                | RvError::EncryptedDataLenRange
                | RvError::UnknownErrorCode(AEAD_DECRYPT_FAILED)
                | RvError::DataInvalid
                | RvError::DataLenRange
                | RvError::GeneralError
                | RvError::FunctionFailed,
            Function::Decrypt
        )
    )
}

#[cfg(test)]
mod test {
    use super::*;

    /// The failure's words decide what the user does next, so each code has its own.
    #[test]
    fn codes_of_modules() {
        use RvError as Rv;
        let failed = |code| Failure::from(ModuleError::Pkcs11(code, Function::Login));
        for (code, text, name) in [
            (Rv::PinIncorrect, "it was tried once", "CKR_PIN_INCORRECT"),
            (Rv::PinInvalid, "it was tried once", "CKR_PIN_INVALID"),
            (Rv::PinLenRange, "it was tried once", "CKR_PIN_LEN_RANGE"),
            (Rv::PinLocked, "the PIN is locked", "CKR_PIN_LOCKED"),
            (Rv::PinExpired, "the PIN has expired", "CKR_PIN_EXPIRED"),
            (Rv::UserPinNotInitialized, "has no PIN yet", "CKR_USER_PIN_NOT_INITIALIZED"),
            (Rv::KeyFunctionNotPermitted, "does not encrypt and decrypt", "CKR_KEY_FUNCTION_NOT_PERMITTED"),
            (Rv::KeyTypeInconsistent, "does not encrypt and decrypt", "CKR_KEY_TYPE_INCONSISTENT"),
            (Rv::MechanismInvalid, "has no AES-GCM (CKM_AES_GCM)", "CKR_MECHANISM_INVALID"),
        ] {
            let Failure::Refused(found) = failed(code) else { panic!("{name}") };
            let said = format!("(the module returned {name} from C_Login)");
            assert!(found.contains(text) && found.ends_with(&said), "{found}");
        }
        for code in [Rv::TokenNotPresent, Rv::SlotIdInvalid, Rv::TokenNotRecognized] {
            let Failure::NotFound(found) = failed(code) else { panic!("no token") };
            assert!(found.starts_with("there is no token in the slot: the module returned CKR_"), "{found}");
        }
        let Failure::Service(found) = failed(Rv::DeviceError) else { panic!("the device") };
        assert_eq!(found, "the module returned CKR_DEVICE_ERROR from C_Login");
        let Failure::Service(found) = failed(Rv::UnknownErrorCode(0x123)) else { panic!("a code") };
        assert_eq!(found, "the module returned the code 0x123 from C_Login");
        let Failure::Service(found) = Failure::from(ModuleError::NullFunctionPointer) else {
            panic!("a function")
        };
        assert_eq!(found, "the module lacks a function that is needed");
    }

    #[test]
    fn codes_of_ciphertexts() {
        let refuses = |code, function| is_bad_ciphertext(&ModuleError::Pkcs11(code, function));
        for code in [
            RvError::EncryptedDataInvalid,
            RvError::EncryptedDataLenRange,
            RvError::UnknownErrorCode(AEAD_DECRYPT_FAILED),
            RvError::GeneralError,
        ] {
            assert!(refuses(code, Function::Decrypt), "{code:?}");
            assert!(!refuses(code, Function::DecryptInit), "{code:?}");
        }
        assert!(!refuses(RvError::DeviceError, Function::Decrypt));
        assert!(!refuses(RvError::UnknownErrorCode(AEAD_DECRYPT_FAILED + 1), Function::Decrypt));
    }

    #[test]
    #[cfg(unix)]
    fn places_of_modules() {
        fn places(text: &str) -> Vec<PathBuf> {
            candidates(&Uri::parse(text).unwrap())
        }
        assert_eq!(places("object=a?module-path=/m.so"), [PathBuf::from("/m.so")]);
        assert_eq!(places("object=a?module-path=/m.so&module-name=n"), [PathBuf::from("/m.so")]);
        let files = [format!("{DLL_PREFIX}n{DLL_SUFFIX}"), format!("n{DLL_SUFFIX}")];
        let root = std::env::temp_dir();
        let found = places(&format!("object=a?module-path={}&module-name=n", root.display()));
        assert_eq!(found, files.clone().map(|file| root.join(file)));
        let found = places("object=a?module-name=n");
        assert_eq!(found[..2], files.map(PathBuf::from));
        assert!(found.contains(&Path::new("/usr/lib/softhsm").join(format!("{DLL_PREFIX}n{DLL_SUFFIX}"))));
        assert!(places("object=a")[0].to_str().unwrap().contains(DEFAULT));
    }
}
