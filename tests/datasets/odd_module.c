/* A PKCS#11 module between sealane and SoftHSM. It passes every call on, and changes some of them as the variable
 * ODD_MODULE says, for example "locked". It appends a line to the file ODD_MODULE_LOG for each login,
 * and one more if SoftHSM failed because another process logged in at the same moment.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef unsigned long CK_ULONG;
typedef struct {
    unsigned char version[2];
    void *call[68];
} FunctionList;
typedef struct {
    CK_ULONG mechanism;
    void *parameter;
    CK_ULONG parameter_len;
} Mechanism;
typedef struct {
    unsigned char *iv;
    CK_ULONG iv_len, iv_bits;
    unsigned char *aad;
    CK_ULONG aad_len, tag_bits;
} GcmParameters;

enum { GetSlotList = 4, GetTokenInfo = 6, OpenSession = 12, Login = 18, FindObjects = 27, EncryptInit = 29, Encrypt, DecryptInit = 33, Decrypt };
#define AES_GCM 0x1087
#define FLAGS_OFFSET 96 /* of CK_TOKEN_INFO, after label, manufacturer, model and serial number */
#define FINAL_TRY 0x00020000
#define KEYPAD 0x100
#define GENERAL_ERROR 0x05
#define USER_PIN_NOT_INITIALIZED 0x102

static FunctionList *real;

static int is(const char *name) {
    const char *chosen = getenv("ODD_MODULE");
    return chosen && strcmp(chosen, name) == 0;
}

static CK_ULONG get_slot_list(unsigned char present, CK_ULONG *slots, CK_ULONG *count) {
    if (is("unknown code")) return 0x12345;
    return ((CK_ULONG(*)(unsigned char, CK_ULONG *, CK_ULONG *))real->call[GetSlotList])(present, slots, count);
}

static CK_ULONG get_token_info(CK_ULONG slot, unsigned char *info) {
    CK_ULONG result = ((CK_ULONG(*)(CK_ULONG, unsigned char *))real->call[GetTokenInfo])(slot, info);
    if (is("final try")) *(CK_ULONG *)(info + FLAGS_OFFSET) |= FINAL_TRY;
    if (is("keypad")) *(CK_ULONG *)(info + FLAGS_OFFSET) |= KEYPAD;
    return result;
}

static void note(const char *event) {
    const char *log = getenv("ODD_MODULE_LOG");
    FILE *file = log ? fopen(log, "a") : NULL;
    if (!file) return;
    fprintf(file, "%s %d\n", event, (int)getpid());
    fclose(file);
}

static CK_ULONG login(CK_ULONG session, CK_ULONG user, unsigned char *pin, CK_ULONG pin_len) {
    static int logins;
    note("login");
    if (is("locked")) return 0xA4;
    if (is("expired")) return 0xA3;
    if (is("keypad") && !pin) {
        pin = (unsigned char *)getenv("ODD_MODULE_PIN");
        pin_len = strlen((char *)pin);
    }
    if (is("disturbed") || (is("disturbed once") && logins++ == 0)) return GENERAL_ERROR;
    if (is("slow")) usleep(1000 * 1000);
    CK_ULONG result = ((CK_ULONG(*)(CK_ULONG, CK_ULONG, unsigned char *, CK_ULONG))real->call[Login])(session, user, pin, pin_len);
    if (result == GENERAL_ERROR || result == USER_PIN_NOT_INITIALIZED) note("disturbed");
    return result;
}

static CK_ULONG find_objects(CK_ULONG session, CK_ULONG *found, CK_ULONG max, CK_ULONG *count) {
    CK_ULONG result = ((CK_ULONG(*)(CK_ULONG, CK_ULONG *, CK_ULONG, CK_ULONG *))real->call[FindObjects])(session, found, max, count);
    if (is("endless objects")) {
        for (CK_ULONG i = 0; i < max; i++) found[i] = i;
        *count = max;
    }
    return result;
}

static void change(Mechanism *mechanism, int encrypts) {
    GcmParameters *gcm = mechanism->parameter;
    if (mechanism->mechanism != AES_GCM) return;
    if (is("no associated data")) gcm->aad_len = 0;
    if (is("own nonce") && encrypts) memset(gcm->iv, 7, gcm->iv_len);
}

static CK_ULONG encrypt_init(CK_ULONG session, Mechanism *mechanism, CK_ULONG key) {
    if (is("no mechanism")) return 0x70;
    change(mechanism, 1);
    return ((CK_ULONG(*)(CK_ULONG, Mechanism *, CK_ULONG))real->call[EncryptInit])(session, mechanism, key);
}

static CK_ULONG encrypt(CK_ULONG session, unsigned char *data, CK_ULONG len, unsigned char *out, CK_ULONG *out_len) {
    CK_ULONG result = ((CK_ULONG(*)(CK_ULONG, unsigned char *, CK_ULONG, unsigned char *, CK_ULONG *))real->call[Encrypt])(session, data, len, out, out_len);
    if (is("short ciphertext") && out) *out_len = 3;
    return result;
}

static CK_ULONG decrypt_init(CK_ULONG session, Mechanism *mechanism, CK_ULONG key) {
    change(mechanism, 0);
    return ((CK_ULONG(*)(CK_ULONG, Mechanism *, CK_ULONG))real->call[DecryptInit])(session, mechanism, key);
}

static CK_ULONG decrypt(CK_ULONG session, unsigned char *data, CK_ULONG len, unsigned char *out, CK_ULONG *out_len) {
    if (is("removed")) return 0x32;
    CK_ULONG result = ((CK_ULONG(*)(CK_ULONG, unsigned char *, CK_ULONG, unsigned char *, CK_ULONG *))real->call[Decrypt])(session, data, len, out, out_len);
    if (is("garbage") && out && result == 0) memset(out, 'x', *out_len);
    if (is("short plaintext") && out && result == 0) *out_len = 1;
    return result;
}

CK_ULONG C_GetFunctionList(FunctionList **list) {
    static FunctionList ours;
    if (is("no function list")) return 5;
    void *library = dlopen(getenv("ODD_MODULE_REAL"), RTLD_NOW);
    if (!library) return 6;
    ((CK_ULONG(*)(FunctionList **))dlsym(library, "C_GetFunctionList"))(&real);
    ours = *real;
    ours.call[GetSlotList] = (void *)get_slot_list;
    ours.call[GetTokenInfo] = (void *)get_token_info;
    ours.call[Login] = (void *)login;
    ours.call[FindObjects] = (void *)find_objects;
    ours.call[EncryptInit] = (void *)encrypt_init;
    ours.call[Encrypt] = (void *)encrypt;
    ours.call[DecryptInit] = (void *)decrypt_init;
    ours.call[Decrypt] = (void *)decrypt;
    if (is("no functions")) ours.call[OpenSession] = NULL;
    *list = &ours;
    return 0;
}
