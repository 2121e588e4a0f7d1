/* ProcessPrng for versions of Wine without bcryptprimitives.dll, for example 8.0 of Debian 12. Programs of Rust call it.
   Windows has the function, so nothing of a release uses this file. */
#include <windows.h>
#include <ntsecapi.h>

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T len)
{
	while (len > 0) {
		ULONG part = len > 0x10000000 ? 0x10000000 : (ULONG)len;
		if (!RtlGenRandom(data, part))
			return FALSE;
		data += part;
		len -= part;
	}
	return TRUE;
}
