//! One use of a token's key: login, search for the key, and its operations.

use super::failure::Failure;
use super::modules::{Module, is_bad_ciphertext};
use super::uri::{Class, Uri};
use crate::asymmetric::rsa::{Oaep, PublicKey};
use crate::encoding::pkcs8::rsa_public;
use base::error::escaped;
use base::{Error, interrupt, random};
use cryptoki::context::Function;
use cryptoki::error::{Error as ModuleError, RvError};
use cryptoki::mechanism::aead::GcmParams;
use cryptoki::mechanism::rsa::{PkcsMgfType, PkcsOaepParams, PkcsOaepSource};
use cryptoki::mechanism::{Mechanism, MechanismType};
use cryptoki::object::{Attribute, AttributeType, KeyType, ObjectClass, ObjectHandle};
use cryptoki::session::{Session, UserType};
use cryptoki::slot::{Slot, TokenInfo};
use cryptoki::types::AuthPin;
use sha2::{Digest, Sha256};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;
use zeroize::Zeroizing;

/// Length in bytes of AES-GCM's nonce and tag.
const NONCE: usize = 12;
const TAG: usize = 16;

/// The shortest and longest pause before we look again for an absent token; 0.6 s to 1.3 s in all.
const SHORTEST_PAUSE: Duration = Duration::from_millis(20);
const LONGEST_PAUSE: Duration = Duration::from_millis(640);

/// Logins of one call at most. Some tokens are locked after three wrong PINs.
const MAX_LOGINS: u32 = 2;

/// The hash functions of RSA-OAEP, in order of preference. Some tokens only have SHA-1; OAEP does
/// not depend on its collision resistance.
const OAEP: [Oaep; 2] = [Oaep::Sha256, Oaep::Sha1];

/// Hashes of refused PINs. We try none of them again: each attempt brings a token closer to being
/// locked, and a job over many files asks for its key many times.
static REFUSED: Mutex<Vec<[u8; 32]>> = Mutex::new(Vec::new());

/// A token's key in its own session. The fields are dropped in this order.
pub(super) struct TokenKey {
    session: Session,
    handle: ObjectHandle,
    pub(super) kind: Kind,
    /// Whether the token can encrypt with it, for a symmetric key.
    encrypts: bool,
    id: Option<Vec<u8>>,
    logged_in: bool,
    _module: Module,
}

/// Kinds of keys that wrap keyrings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Aes,
    Rsa,
}

impl TokenKey {
    /// Opens the URI's token, logs in, and finds the key.
    pub(super) fn open(uri: &Uri) -> Result<Self, Failure> {
        let (module, session, logged_in) = open_session(uri)?;
        let (handle, class) = find(&session, uri)?;
        let asked = [
            AttributeType::KeyType,
            AttributeType::Encrypt,
            AttributeType::Decrypt,
            AttributeType::AlwaysAuthenticate,
            AttributeType::Id,
        ];
        let mut found = None;
        let (mut encrypts, mut decrypts, mut asks_always, mut id) = (true, true, false, None);
        for attribute in session.get_attributes(handle, &asked)? {
            match attribute {
                Attribute::KeyType(kind) => found = Some(kind),
                Attribute::Encrypt(value) => encrypts = value,
                Attribute::Decrypt(value) => decrypts = value,
                Attribute::AlwaysAuthenticate(value) => asks_always = value,
                Attribute::Id(value) => id = Some(value),
                _ => {}
            }
        }
        let kind = match (found, class) {
            (Some(KeyType::AES), Class::Secret) => Some(Kind::Aes),
            (Some(KeyType::RSA), Class::Private) => Some(Kind::Rsa),
            _ => None,
        };
        let wrong = match kind {
            None => "expected an AES or RSA key, found a key of another type",
            Some(_) if !decrypts => {
                "the key may not decrypt (CKA_DECRYPT is false); use one that was made for it"
            }
            Some(_) if asks_always => {
                "the token asks for the PIN at each use of this key (CKA_ALWAYS_AUTHENTICATE), which is not \
                 supported; use another key"
            }
            Some(kind) => {
                return Ok(Self { session, handle, kind, encrypts, id, logged_in, _module: module });
            }
        };
        Err(Failure::Refused(wrong.into()))
    }

    /// Encrypts with AES-GCM under a fresh nonce. Returns nonce, ciphertext and tag.
    pub(super) fn seal(&self, plaintext: &[u8], aad: &[u8]) -> Result<Vec<u8>, Failure> {
        if !self.encrypts {
            return Err(Failure::Refused(
                "the key may not encrypt (CKA_ENCRYPT is false); use one that was made for it".into(),
            ));
        }
        let mut nonce = random::array().map_err(Error::from)?;
        let sealed = self.session.encrypt(&gcm(&mut nonce, aad)?, self.handle, plaintext)?;
        if sealed.len() != plaintext.len() + TAG {
            return Err(Failure::Service(format!(
                "the module returned {} bytes for {} bytes and a tag of AES-GCM",
                sealed.len(),
                plaintext.len()
            )));
        }
        // Some modules replace the nonce by their own.
        Ok([&nonce[..], &sealed].concat())
    }

    /// Decrypts what [`Self::seal`] returned.
    pub(super) fn open_sealed(&self, sealed: &[u8], aad: &[u8]) -> Result<Zeroizing<Vec<u8>>, Failure> {
        let (nonce, sealed) = sealed.split_first_chunk::<NONCE>().ok_or(Error::Authentication)?;
        let mut nonce = *nonce;
        let plaintext_len = sealed.len().checked_sub(TAG).ok_or(Error::Authentication)?;
        let plaintext = self.decrypt(&gcm(&mut nonce, aad)?, sealed)?;
        match plaintext.len() == plaintext_len {
            true => Ok(plaintext),
            false => Err(Failure::Service("the module returned a plaintext of another length".into())),
        }
    }

    /// Encrypts a key with RSA-OAEP and the public key, with the first hash function that lets the
    /// token decrypt it.
    pub(super) fn wrap(&self, key: &[u8]) -> Result<Vec<u8>, Failure> {
        let public = self.public()?;
        let mut reason = Failure::Service("the module decrypts RSA-OAEP to something else".into());
        for oaep in OAEP {
            let wrapped = public.wrap(oaep, b"", key)?;
            match self.decrypt(&mechanism(oaep), &wrapped) {
                Ok(found) if found[..] == *key => return Ok(wrapped),
                Ok(_) => {}
                Err(Failure::Other(Error::Authentication)) => {
                    reason = Failure::Service("the module refuses what was encrypted for this key".into());
                }
                Err(error) => reason = error,
            }
        }
        Err(reason)
    }

    /// Decrypts what [`Self::wrap`] returned.
    pub(super) fn unwrap(&self, wrapped: &[u8]) -> Result<Zeroizing<Vec<u8>>, Failure> {
        let mut reason = None;
        for oaep in OAEP {
            match self.decrypt(&mechanism(oaep), wrapped) {
                Ok(key) => return Ok(key),
                Err(Failure::Other(error)) => reason = Some(Failure::Other(error)),
                // A token without one of the hash functions says so, but that is not the reason.
                Err(_) if matches!(reason, Some(Failure::Other(_))) => {}
                Err(error) => reason = Some(error),
            }
        }
        Err(reason.unwrap_or(Error::Authentication.into()))
    }

    fn decrypt(&self, mechanism: &Mechanism<'_>, ciphertext: &[u8]) -> Result<Zeroizing<Vec<u8>>, Failure> {
        match self.session.decrypt(mechanism, self.handle, ciphertext) {
            Ok(plaintext) => Ok(Zeroizing::new(plaintext)),
            Err(error) if is_bad_ciphertext(&error) => Err(Error::Authentication.into()),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns the public key of an RSA key, from the private key or the object beside it.
    fn public(&self) -> Result<PublicKey, Failure> {
        let mut numbers = self.numbers(self.handle)?;
        if let (None, Some(id)) = (&numbers, &self.id) {
            let template = [Attribute::Class(ObjectClass::PUBLIC_KEY), Attribute::Id(id.clone())];
            if let Some(handle) = self.session.iter_objects(&template)?.next() {
                numbers = self.numbers(handle?)?;
            }
        }
        let [n, e] =
            numbers.ok_or(Failure::Refused("the token has no public key for this private key".into()))?;
        Ok(PublicKey::from_spki(&rsa_public(&n, &e)?)?)
    }

    /// Returns a key's modulus and public exponent, if the token shows both.
    fn numbers(&self, handle: ObjectHandle) -> Result<Option<[Vec<u8>; 2]>, Failure> {
        let asked = [AttributeType::Modulus, AttributeType::PublicExponent];
        let (mut n, mut e) = (None, None);
        for attribute in self.session.get_attributes(handle, &asked)? {
            match attribute {
                Attribute::Modulus(value) if !value.is_empty() => n = Some(value),
                Attribute::PublicExponent(value) if !value.is_empty() => e = Some(value),
                _ => {}
            }
        }
        Ok(n.zip(e).map(|(n, e)| [n, e]))
    }
}

impl Drop for TokenKey {
    fn drop(&mut self) {
        if self.logged_in {
            // A finalized module has logged out anyway. This is for one that another library uses
            // too.
            let _ = self.session.logout();
        }
    }
}

fn gcm<'a>(nonce: &'a mut [u8; NONCE], aad: &'a [u8]) -> Result<Mechanism<'a>, Failure> {
    let bits = (8 * TAG).try_into()?;
    Ok(Mechanism::AesGcm(GcmParams::new(nonce, aad, bits)?))
}

fn mechanism(oaep: Oaep) -> Mechanism<'static> {
    let (hash, mask) = match oaep {
        Oaep::Sha1 => (MechanismType::SHA1, PkcsMgfType::MGF1_SHA1),
        _ => (MechanismType::SHA256, PkcsMgfType::MGF1_SHA256),
    };
    Mechanism::RsaPkcsOaep(PkcsOaepParams::new(hash, mask, PkcsOaepSource::empty()))
}

/// Opens the URI's module and a session with the only matching token, and returns whether it
/// logged in.
///
/// SoftHSM writes to a token at each login. Other processes that read it at this moment find no
/// token or an error, or cannot log in (seen with 2.6.1). So we try again.
fn open_session(uri: &Uri) -> Result<(Module, Session, bool), Failure> {
    let mut logins = 0;
    let mut longest = SHORTEST_PAUSE;
    loop {
        // Modules list their tokens when they are initialized.
        let module = Module::open(uri)?;
        match try_session(&module, uri, &mut logins) {
            Ok((session, logged_in)) => return Ok((module, session, logged_in)),
            Err(NoSession::Now(_)) if longest <= LONGEST_PAUSE => {}
            Err(NoSession::Now(failure) | NoSession::Finally(failure)) => return Err(failure),
        }
        drop(module);
        interrupt::check()?;
        // Processes that disturbed each other must wait for different times.
        let [part] = random::array().map_err(Error::from)?;
        thread::sleep(longest / 2 + longest * u32::from(part) / 510);
        longest *= 2;
    }
}

fn try_session(module: &Module, uri: &Uri, logins: &mut u32) -> Result<(Session, bool), NoSession> {
    let (slot, token) = slot(module, uri)?;
    let session = module.pkcs11.open_ro_session(slot).map_err(Failure::from)?;
    let logged_in = login(&session, uri, &token, logins)?;
    Ok((session, logged_in))
}

/// Why there is no session.
enum NoSession {
    /// There may be one in a moment.
    Now(Failure),
    Finally(Failure),
}

impl From<Failure> for NoSession {
    fn from(failure: Failure) -> Self {
        Self::Finally(failure)
    }
}

/// Returns the slot of the only token that matches the URI. No other token gets a PIN.
fn slot(module: &Module, uri: &Uri) -> Result<(Slot, TokenInfo), NoSession> {
    let fits = |wanted: &Option<String>, found: &str| wanted.as_ref().is_none_or(|wanted| wanted == found);
    let mut found = Vec::new();
    let mut unreadable = None;
    let slots = module.pkcs11.get_slots_with_token().map_err(|e| NoSession::Finally(e.into()))?;
    for slot in slots {
        if uri.slot.is_some_and(|wanted| wanted != slot.id()) {
            continue;
        }
        let token = match module.pkcs11.get_token_info(slot) {
            // Removed since the slots were listed.
            Err(ModuleError::Pkcs11(RvError::TokenNotPresent | RvError::TokenNotRecognized, _)) => continue,
            Err(error) => {
                unreadable = Some(error.into());
                continue;
            }
            Ok(token) => token,
        };
        if token.token_initialized()
            && fits(&uri.token, token.label())
            && fits(&uri.manufacturer, token.manufacturer_id())
            && fits(&uri.model, token.model())
            && fits(&uri.serial, token.serial_number())
        {
            found.push((slot, token));
        }
    }
    match (found.len(), unreadable) {
        (0, None) => Err(NoSession::Now(Failure::NotFound(
            "no token with these attributes is present; plug it in, or check them".into(),
        ))),
        // An unreadable token might match too, so a single match proves nothing.
        (_, Some(failure)) => Err(NoSession::Now(failure)),
        (1, None) => Ok(found.remove(0)),
        (many, None) => Err(NoSession::Finally(Failure::NotFound(format!(
            "{many} tokens have these attributes; add token= or serial=, because the PIN is sent to one token only"
        )))),
    }
}

/// Logs in, if the token requires it. Returns whether it did.
fn login(session: &Session, uri: &Uri, token: &TokenInfo, logins: &mut u32) -> Result<bool, NoSession> {
    if !token.login_required() {
        return Ok(false);
    }
    let label = escaped(token.label());
    let entered = uri.pin.find(&label)?;
    let Some(entered) = entered else {
        if token.protected_authentication_path() {
            return Ok(logged_in(session.login(UserType::User, None))?);
        }
        return Err(Failure::Refused(format!(
            "the token {label} needs a PIN; use pin-source=FILE, or the environment variable SEALANE_PKCS11_PIN"
        )).into());
    };
    // Not the module: one token can be reached by several paths and modules.
    let mut hash = Sha256::new();
    for part in [token.serial_number().as_bytes(), label.as_bytes()] {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    hash.update(entered.pin.as_bytes());
    let hash: [u8; 32] = hash.finalize().into();
    let mut refused = REFUSED.lock().unwrap_or_else(PoisonError::into_inner);
    if refused.contains(&hash) {
        return Err(Failure::Refused(format!(
            "the token {label} has refused this PIN before, and was not asked again, because it is locked after \
             some wrong PINs"
        )).into());
    }
    if token.user_pin_final_try() && !entered.typed {
        return Err(Failure::Refused(format!(
            "one more wrong PIN locks the token {label}, so it was not asked; log in once with the software of the \
             token"
        )).into());
    }
    if *logins > 0 && token.user_pin_count_low() {
        return Err(Failure::Service(format!(
            "the token {label} failed during the login and has counted a wrong PIN since, so it was not asked again"
        )).into());
    }
    *logins += 1;
    let pin = AuthPin::from(entered.pin.as_str());
    let result = session.login(UserType::User, Some(&pin));
    if let Err(ModuleError::Pkcs11(RvError::PinIncorrect | RvError::PinInvalid | RvError::PinLenRange, _)) =
        &result
    {
        refused.push(hash);
    }
    // The token has a PIN, so another process probably writes to it.
    let disturbed = token.user_pin_initialized()
        && matches!(
            result,
            Err(ModuleError::Pkcs11(RvError::GeneralError | RvError::UserPinNotInitialized, _))
        );
    match logged_in(result) {
        // We don't send a typed PIN again: another token may be there now.
        Err(failure) if disturbed && !entered.typed && *logins < MAX_LOGINS => Err(NoSession::Now(failure)),
        result => Ok(result?),
    }
}

fn logged_in(result: Result<(), ModuleError>) -> Result<bool, Failure> {
    match result {
        Ok(()) => Ok(true),
        Err(ModuleError::Pkcs11(RvError::UserAlreadyLoggedIn, Function::Login)) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Finds the only key that matches the URI.
fn find(session: &Session, uri: &Uri) -> Result<(ObjectHandle, Class), Failure> {
    let mut found = None;
    for (class, name) in
        [(Class::Secret, ObjectClass::SECRET_KEY), (Class::Private, ObjectClass::PRIVATE_KEY)]
    {
        if uri.class.is_some_and(|wanted| wanted != class) {
            continue;
        }
        let mut template = vec![Attribute::Class(name)];
        template.extend(uri.object.as_ref().map(|label| Attribute::Label(label.as_bytes().to_vec())));
        template.extend(uri.id.clone().map(Attribute::Id));
        // Two are enough to know that there are several; a module could return any number.
        for handle in session.iter_objects(&template)?.take(2) {
            if found.replace((handle?, class)).is_some() {
                return Err(Failure::NotFound(
                    "several keys of the token have these attributes; add id= or type=".into(),
                ));
            }
        }
    }
    found.ok_or(Failure::NotFound("the token has no secret or private key with these attributes".into()))
}
