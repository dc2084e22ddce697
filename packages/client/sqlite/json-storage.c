/*
** Columns of JSON text that are stored in SQLite's binary form (JSONB).
**
** SQL sees a column declared as TEXT JSONB as text: comparisons, sorting, concatenation and results use the text. Only
** its records hold JSONB. SQLite treats REAL columns, whose records may hold integers, in the same way: it converts a
** value when a statement reads the column and when it makes a record. hooks.mjs has the calls. JSON functions read the
** stored form without a conversion.
**
** Text that is not JSON in its shortest form (JSON with blanks, JSON5, any other text) is stored as text. So every
** value is read back with exactly the bytes that were written.
*/

/* Types of nodes by SQLite's names: text, text with escapes, text from SQL that may need escapes, and containers. */
#define RP_JSON_TEXT 7
#define RP_JSON_TEXTJ 8
#define RP_JSON_TEXTRAW 10
#define RP_JSON_ARRAY 11

/* The number of nodes of type TEXTRAW that need no escapes, counted by the last rpJsonLength(). */
static u32 rpRawTexts;

/* Reads the header of the node at a[i] of n bytes. Returns its length, or 0 if the node is damaged. */
static u32 rpJsonHeader(const u8 *a, u32 i, u32 n, u32 *pSize){
  u32 nHeader, sz = a[i]>>4;
  if( sz<12 ){
    nHeader = 1;
  }else{
    u32 k;
    nHeader = 1 + (1u<<(sz-12));
    if( nHeader>n-i ) return 0;
    for(k=1, sz=0; k<nHeader; k++){
      if( sz>>24 ) return 0;
      sz = sz<<8 | a[i+k];
    }
  }
  if( nHeader>n-i || sz>n-i-nHeader ) return 0;
  *pSize = sz;
  return nHeader;
}

/* Whether a JSON string may hold n bytes unchanged. bEscapes: the bytes may contain escapes. */
static SQLITE_NOINLINE int rpJsonQuotable(const u8 *z, u32 n, int bEscapes){
  u32 i = 0;
  while( i<n ){
    u64 w;
    if( n-i>=8 ){
      u64 q, b;
      memcpy(&w, &z[i], 8);
      q = w ^ 0x2222222222222222ull;
      b = w ^ 0x5c5c5c5c5c5c5c5cull;
      w = (w - 0x2020202020202020ull) & ~w;
      q = (q - 0x0101010101010101ull) & ~q;
      b = (b - 0x0101010101010101ull) & ~b;
      if( ((w | q | b) & 0x8080808080808080ull)==0 ){
        i += 8;
        continue;
      }
    }
    if( z[i]<0x20 || z[i]=='"' ) return 0;
    if( z[i]=='\\' && (!bEscapes || ++i>=n || z[i]<0x20) ) return 0;
    i++;
  }
  return 1;
}

/* Whether n bytes have only characters of a JSON number. */
static int rpJsonNumeric(const u8 *z, u32 n){
  u32 i;
  for(i=0; i<n; i++) if( !sqlite3Isdigit(z[i]) && z[i]!='-' && z[i]!='+' && z[i]!='.' && (z[i]|0x20)!='e' ) return 0;
  return n>0;
}

/*
** Adds the length of the node at a[i] as JSON text. Returns the end of the node, or 0 if it is damaged or contains a
** value that standard JSON writes differently, such as a number of JSON5 or a text from SQL that needs escapes.
*/
static u32 rpJsonLength(const u8 *a, u32 i, u32 n, int nDepth, u64 *pLength){
  u32 sz, iEnd, nChild = 0, nHeader = i<n ? rpJsonHeader(a, i, n, &sz) : 0;
  u8 eType = nHeader ? a[i] & 15 : 0;
  if( nHeader==0 ) return 0;
  i += nHeader;
  iEnd = i + sz;
  switch( eType ){
    case 0: case 1: case 2:
      *pLength += eType==2 ? 5 : 4;
      return sz==0 ? iEnd : 0;
    case 3: case 5:
      *pLength += sz;
      return rpJsonNumeric(&a[i], sz) ? iEnd : 0;
    case RP_JSON_TEXTRAW:
      rpRawTexts++;
      /* no break */ deliberate_fall_through
    case RP_JSON_TEXT: case RP_JSON_TEXTJ:
      *pLength += sz + 2;
      return rpJsonQuotable(&a[i], sz, eType==RP_JSON_TEXTJ) ? iEnd : 0;
    case RP_JSON_ARRAY: case 12:
      if( nDepth>=JSON_MAX_DEPTH ) return 0;
      for(; i<iEnd; nChild++){
        if( eType==12 && (nChild & 1)==0 && ((a[i] & 15)<RP_JSON_TEXT || (a[i] & 15)>RP_JSON_TEXTRAW) ) return 0;
        i = rpJsonLength(a, i, iEnd, nDepth+1, pLength);
        if( i==0 ) return 0;
      }
      *pLength += nChild ? nChild+1 : 2;
      return eType==12 && (nChild & 1) ? 0 : iEnd;
    default:
      return 0;
  }
}

/* Copies bytes. In WebAssembly, memcpy() takes as long for a few bytes as for hundreds. */
static SQLITE_NOINLINE void rpJsonCopy(u8 *z, const u8 *a, u32 n){
  if( n>64 ){
    memcpy(z, a, n);
    return;
  }
  for(; n>=8; n-=8, a+=8, z+=8) memcpy(z, a, 8);
  for(; n>0; n--){
    *z++ = *a++;
    __asm__ volatile("" ::: "memory");  /* Otherwise the compiler replaces the loop by memcpy(). */
  }
}

/* Writes the node at *pi, which rpJsonLength() has measured. Returns the end of its text. */
static u8 *rpJsonWrite(const u8 *a, u32 *pi, u32 n, u8 *z){
  u32 sz = 0, iEnd, nHeader = rpJsonHeader(a, *pi, n, &sz);
  u8 eType = a[*pi] & 15;
  *pi += nHeader;
  iEnd = *pi + sz;
  if( eType>=RP_JSON_ARRAY ){
    u32 nChild = 0;
    *z++ = eType==12 ? '{' : '[';
    for(; *pi<iEnd; nChild++){
      if( nChild ) *z++ = eType==12 && (nChild & 1) ? ':' : ',';
      z = rpJsonWrite(a, pi, iEnd, z);
    }
    *z++ = eType==12 ? '}' : ']';
    return z;
  }
  if( eType<3 ){
    memcpy(z, eType==0 ? "null" : eType==1 ? "true" : "false", eType==2 ? 5 : 4);
    z += eType==2 ? 5 : 4;
  }else{
    int bQuoted = eType>=7;
    if( bQuoted ) *z++ = '"';
    rpJsonCopy(z, &a[*pi], sz);
    z += sz;
    if( bQuoted ) *z++ = '"';
  }
  *pi = iEnd;
  return z;
}

/* Returns the length of JSONB as standard JSON text, or 0 if rpJsonWrite() cannot write it. */
static SQLITE_NOINLINE u64 rpJsonTextLength(const u8 *a, u32 n){
  u64 nText = 0;
  rpRawTexts = 0;
  return rpJsonLength(a, 0, n, 0, &nText)==n ? nText : 0;
}

/* Whether a blob is valid JSONB. */
static int rpIsJsonb(const u8 *a, u32 n){
  JsonParse x;
  memset(&x, 0, sizeof(x));
  x.aBlob = (u8*)a;
  x.nBlob = n;
  return n>0 && jsonbValidityCheck(&x, 0, n, 1)==0;
}

/* Lets SQLite convert JSONB to text. Returns 0 if it is not JSONB or memory runs out. Free with sqlite3RCStrUnref(). */
static SQLITE_NOINLINE char *rpJsonByTheEngine(const u8 *a, u32 n, u64 *pnText){
  JsonParse x;
  JsonString s;
  char *z = 0;
  if( !rpIsJsonb(a, n) ) return 0;
  memset(&x, 0, sizeof(x));
  x.aBlob = (u8*)a;
  x.nBlob = n;
  jsonStringInit(&s, 0);
  jsonTranslateBlobToText(&x, 0, &s);
  if( s.eErr==0 && (z = sqlite3RCStrNew(s.nUsed))!=0 ) memcpy(z, s.zBuf, s.nUsed);
  *pnText = s.nUsed;
  jsonStringReset(&s);
  return z;
}

/* Converts the JSONB in a register to text. Leaves any other value unchanged. */
static int rockpoolJsonText(Mem *p){
  u64 nText;
  u32 i = 0;
  if( (p->flags & MEM_Blob)==0 || p->n==0 ) return SQLITE_OK;
  nText = rpJsonTextLength((u8*)p->z, (u32)p->n);
  if( nText>0 ){
    char *z;
    if( nText>(u64)p->db->aLimit[SQLITE_LIMIT_LENGTH] ) return SQLITE_TOOBIG;
    z = sqlite3DbMallocRaw(p->db, nText+1);
    if( z==0 ) return SQLITE_NOMEM_BKPT;
    rpJsonWrite((u8*)p->z, &i, (u32)p->n, (u8*)z);
    z[nText] = 0;
    return sqlite3VdbeMemSetStr(p, z, (i64)nText, SQLITE_UTF8, SQLITE_DYNAMIC);
  }else{
    char *z = rpJsonByTheEngine((u8*)p->z, (u32)p->n, &nText);
    return z ? sqlite3VdbeMemSetStr(p, z, (i64)nText, SQLITE_UTF8, sqlite3RCStrUnref) : SQLITE_OK;
  }
}

/* Rewrites JSONB from an app to the form that its text would be stored in, so that equal texts have equal records. */
static SQLITE_NOINLINE void rpJsonRewrite(Mem *p){
  u32 i, sz = 0, n = (u32)p->n;
  if( rpJsonTextLength((u8*)p->z, n)==0 ){
    rockpoolJsonText(p);
  }else if( rpRawTexts>0 && sqlite3VdbeMemMakeWriteable(p)==SQLITE_OK ){
    u8 *a = (u8*)p->z;
    for(i=0; i<n;){
      u8 eType = a[i] & 15;
      u32 nHeader = rpJsonHeader(a, i, n, &sz);
      if( eType==RP_JSON_TEXTRAW ) a[i] += RP_JSON_TEXT - RP_JSON_TEXTRAW;
      i += nHeader + (eType<RP_JSON_ARRAY ? sz : 0);
    }
  }
}

/* Converts the text in a register to JSONB if it can be read back as the same text. Leaves any other value unchanged. */
static void rockpoolJsonBinary(Mem *p){
  JsonParse x;
  if( (p->flags & MEM_Blob) && p->n>0 ) rpJsonRewrite(p);
  if( (p->flags & MEM_Str)==0 || p->enc!=SQLITE_UTF8 || sqlite3VdbeMemNulTerminate(p) ) return;
  memset(&x, 0, sizeof(x));
  x.db = p->db;
  x.zJson = p->z;
  x.nJson = p->n;
  if( jsonConvertTextToBlob(&x, 0) ) return;
  if( x.hasNonstd || rpJsonTextLength(x.aBlob, x.nBlob)!=(u64)p->n ){
    jsonParseReset(&x);
    return;
  }
  sqlite3VdbeMemSetStr(p, (char*)x.aBlob, x.nBlob, 0, SQLITE_DYNAMIC);
}

/* Whether a function reads JSON from its first argument and also accepts JSONB there. */
static int rockpoolReadsJson(const FuncDef *p){
  void (*x)(sqlite3_context*,int,sqlite3_value**) = p->xSFunc;
  return x==jsonExtractFunc || x==jsonSetFunc || x==jsonReplaceFunc || x==jsonRemoveFunc || x==jsonArrayLengthFunc
      || x==jsonTypeFunc || x==jsonPatchFunc;
}
