/*
** Rows of results: steps a statement and stores the values of its rows by column, in the format that threads exchange
** (rows-transfer.ts). JavaScript copies a whole column at once, not each value.
**
** A column has the type of its first value. It becomes mixed when a value of another type follows, or an integer that
** a double cannot represent. JavaScript takes the stored rows when the statement ends, or when the result is RP_FULL,
** so that the module needs little memory.
*/

enum { RP_NULL, RP_NUMBER, RP_TEXT, RP_BLOB, RP_MIXED };
/* The tags of the values in a mixed column. */
enum { RP_TAG_NULL, RP_TAG_REAL, RP_TAG_INTEGER, RP_TAG_TEXT, RP_TAG_BLOB };

/* Results of rockpool_rows_take() besides SQLITE_ROW, SQLITE_DONE and errors. */
#define RP_FULL 200         /* The caller must take the rows, then call again */
#define RP_TOO_LARGE 201    /* One row, or one column of the stored rows, exceeds RP_MAX_COLUMN_BYTES */

#define RP_MAX_COLUMN_BYTES (256*1024*1024)
#define RP_FULL_BYTES (1024*1024)
#define RP_FULL_CELLS (128*1024)
/* A larger buffer is freed after JavaScript has taken its rows. */
#define RP_KEPT_BYTES (4*1024*1024)

/* JavaScript reads these structs as 32-bit words (encode-rows.ts). */
typedef struct RpColumn RpColumn;
struct RpColumn {
  u32 eKind;
  u32 bNull;                /* Whether a bit of aNull is set */
  double *aNumber;          /* Numbers. Mixed: a double, an i64, or the start of bytes (low word) and their count (high) */
  u32 *aEnd;                /* The end of each row. Text: in UTF-16 units. Blob: in bytes */
  u8 *aByte;                /* Text, blob, mixed: the bytes of all rows */
  u32 nByte;
  u8 *aNull;                /* A bit per row */
  u8 *aTag;                 /* Mixed: the type of each row */
  u32 nUnit;                /* Text: UTF-16 units in aByte */
  u32 nByteAlloc;
};
typedef struct RpRows RpRows;
struct RpRows {
  u32 nRow, nColumn;
  u32 nReprepare;           /* How often SQLite compiled the statement again, which may change its columns */
  RpColumn *aColumn;
  u32 nRowAlloc, nColumnAlloc;
  u32 nTextBytes;           /* The bytes of text and blobs in all columns */
};
static RpRows rpRows;

RP_SMALL static void rpFreeRowMemory(RpColumn *c){
  sqlite3_free(c->aNumber);
  sqlite3_free(c->aEnd);
  sqlite3_free(c->aNull);
  sqlite3_free(c->aTag);
  c->aNumber = 0;
  c->aEnd = 0;
  c->aNull = c->aTag = 0;
}

/* Makes room for another row in all columns. */
RP_SMALL static int rpGrowRows(RpRows *r){
  u32 i, n = r->nRowAlloc ? r->nRowAlloc*2 : 64;
  for(i=0; i<r->nColumnAlloc; i++){
    RpColumn *c = &r->aColumn[i];
    double *aNumber = sqlite3_realloc64(c->aNumber, (u64)n*8);
    u32 *aEnd;
    u8 *aNull, *aTag;
    if( aNumber ) c->aNumber = aNumber;
    aEnd = sqlite3_realloc64(c->aEnd, (u64)n*4);
    if( aEnd ) c->aEnd = aEnd;
    aNull = sqlite3_realloc64(c->aNull, n/8);
    if( aNull ) c->aNull = aNull;
    aTag = sqlite3_realloc64(c->aTag, n);
    if( aTag ) c->aTag = aTag;
    if( aNumber==0 || aEnd==0 || aNull==0 || aTag==0 ) return SQLITE_NOMEM;
    memset(&c->aNull[r->nRowAlloc/8], 0, (n - r->nRowAlloc)/8);
  }
  r->nRowAlloc = n;
  return SQLITE_OK;
}

/* Forgets the stored rows. The next ones have nColumn columns. */
static int rpBeginRows(RpRows *r, u32 nColumn){
  u32 i;
  for(i=0; i<r->nColumn; i++){
    RpColumn *c = &r->aColumn[i];
    /* A result that failed may have set the bits of rows that it does not count. */
    if( c->bNull ) memset(c->aNull, 0, r->nRowAlloc/8);
    if( c->nByteAlloc>RP_KEPT_BYTES ){
      sqlite3_free(c->aByte);
      c->aByte = 0;
      c->nByteAlloc = 0;
    }
    c->eKind = RP_NULL;
    c->bNull = c->nByte = c->nUnit = 0;
  }
  r->nRow = r->nTextBytes = 0;
  r->nColumn = 0;
  if( nColumn>r->nColumnAlloc || (nColumn>0 && (u64)r->nColumnAlloc*r->nRowAlloc>2*RP_FULL_CELLS) ){
    /* Narrow results have many rows, and wide results have few. So memory for one kind does not suit the other. */
    RpColumn *aColumn;
    for(i=0; i<r->nColumnAlloc; i++){
      rpFreeRowMemory(&r->aColumn[i]);
      sqlite3_free(r->aColumn[i].aByte);
    }
    r->nRowAlloc = r->nColumnAlloc = 0;
    aColumn = sqlite3_realloc64(r->aColumn, (u64)nColumn*sizeof(RpColumn));
    if( aColumn==0 ) return SQLITE_NOMEM;
    memset(aColumn, 0, nColumn*sizeof(RpColumn));
    r->aColumn = aColumn;
    r->nColumnAlloc = nColumn;
  }
  r->nColumn = nColumn;
  return SQLITE_OK;
}

/* Makes room for n more bytes in a column. */
static int rpReserve(RpColumn *c, u64 n){
  u64 nNeeded = c->nByte + n, nAlloc;
  u8 *a;
  if( nNeeded<=c->nByteAlloc ) return SQLITE_OK;
  if( nNeeded>RP_MAX_COLUMN_BYTES ) return RP_TOO_LARGE;
  nAlloc = MAX(nNeeded, MIN((u64)c->nByteAlloc*2, RP_MAX_COLUMN_BYTES)) + 64;
  a = sqlite3_realloc64(c->aByte, nAlloc);
  if( a==0 ) return SQLITE_NOMEM;
  c->aByte = a;
  c->nByteAlloc = (u32)nAlloc;
  return SQLITE_OK;
}

/*
** Returns the length in bytes, up to 4, of the well-formed UTF-8 character at a. If there is none, returns minus the
** number of bytes that a decoder replaces by one U+FFFD: https://encoding.spec.whatwg.org/#utf-8-decoder
*/
static int rpCharacter(const u8 *a, const u8 *pEnd){
  u8 c = a[0], lo = 0x80, hi = 0xbf;
  int n, i;
  if( c<0x80 ) return 1;
  if( c<0xc2 || c>0xf4 ) return -1;
  n = c<0xe0 ? 2 : c<0xf0 ? 3 : 4;
  if( c==0xe0 ) lo = 0xa0; else if( c==0xed ) hi = 0x9f; else if( c==0xf0 ) lo = 0x90; else if( c==0xf4 ) hi = 0x8f;
  for(i=1; i<n; i++){
    if( &a[i]>=pEnd || a[i]<lo || a[i]>hi ) return -i;
    lo = 0x80;
    hi = 0xbf;
  }
  return n;
}

/* Returns the length in UTF-16 units, or -1 if the bytes are not UTF-8. */
static int rpUnits(const u8 *a, u32 n){
  const u8 *pEnd = &a[n], *p = a;
  u32 nUnit;
  if( n<8 ){
    u8 c = 0;
    for(nUnit=0; nUnit<n; nUnit++) c |= a[nUnit];
    if( c<0x80 ) return (int)n;
  }else{
    /* Reads eight bytes at once, and may read the last bytes twice. */
    u64 w, all;
    memcpy(&all, pEnd-8, 8);
    for(; pEnd-p>8; p+=8){
      memcpy(&w, p, 8);
      all |= w;
    }
    if( (all & 0x8080808080808080ull)==0 ) return (int)n;
    p = a;
  }
  while( pEnd-p>=8 ){
    u64 w;
    memcpy(&w, p, 8);
    if( w & 0x8080808080808080ull ) break;
    p += 8;
  }
  nUnit = (u32)(p-a);
  while( p<pEnd ){
    int k = rpCharacter(p, pEnd);
    if( k<0 ) return -1;
    p += k;
    nUnit += k==4 ? 2 : 1;
  }
  return (int)nUnit;
}

/* Appends text that is not UTF-8 in the form that the page would decode, so that the ends of rows are correct. */
RP_SMALL static int rpAppendReplaced(RpColumn *c, const u8 *a, u32 n){
  const u8 *pEnd = &a[n];
  int rc = rpReserve(c, (u64)n*3);
  if( rc!=SQLITE_OK ) return rc;
  while( a<pEnd ){
    int k = rpCharacter(a, pEnd);
    if( k>0 ){
      memcpy(&c->aByte[c->nByte], a, k);
      c->nByte += k;
      c->nUnit += k==4 ? 2 : 1;
    }else{
      memcpy(&c->aByte[c->nByte], "\xef\xbf\xbd", 3);
      c->nByte += 3;
      c->nUnit += 1;
      k = -k;
    }
    a += k;
  }
  return SQLITE_OK;
}

static void rpSetNull(RpColumn *c, u32 iRow){
  c->aNull[iRow>>3] |= (u8)(1<<(iRow&7));
  c->bNull = 1;
}

/* Gives a type to a column that has only NULLs. */
RP_SMALL static void rpBecome(RpColumn *c, u32 eKind, u32 nRow){
  u32 i;
  c->eKind = eKind;
  for(i=0; i<nRow; i++){
    rpSetNull(c, i);
    c->aNumber[i] = 0;
    c->aEnd[i] = 0;
    c->aTag[i] = RP_TAG_NULL;
  }
}

RP_SMALL static void rpSetRange(RpColumn *c, u32 iRow, u32 iStart, u32 n){
  u64 u = (u64)n<<32 | iStart;
  memcpy(&c->aNumber[iRow], &u, 8);
}

/* Makes a column mixed. */
RP_SMALL static void rpBecomeMixed(RpColumn *c, u32 nRow){
  u32 i, iByte = 0, iUnit = 0;
  if( c->eKind==RP_NULL ) rpBecome(c, RP_MIXED, nRow);
  for(i=0; i<nRow && c->eKind!=RP_MIXED; i++){
    int bNull = c->bNull && (c->aNull[i>>3] & (1<<(i&7)))!=0;
    u32 iStart = iByte;
    if( c->eKind==RP_TEXT ){
      for(; iUnit<c->aEnd[i]; ){
        int k = rpCharacter(&c->aByte[iByte], &c->aByte[c->nByte]);
        iByte += k;
        iUnit += k==4 ? 2 : 1;
      }
    }else if( c->eKind==RP_BLOB ){
      iByte = c->aEnd[i];
    }
    c->aTag[i] = bNull ? RP_TAG_NULL : c->eKind==RP_NUMBER ? RP_TAG_REAL : c->eKind==RP_TEXT ? RP_TAG_TEXT : RP_TAG_BLOB;
    if( c->eKind!=RP_NUMBER ) rpSetRange(c, i, iStart, iByte-iStart);
  }
  c->eKind = RP_MIXED;
}

/* Stores one value. */
static int rpAppend(RpRows *r, RpColumn *c, Mem *pMem, sqlite3_stmt *pStmt, int iColumn){
  u32 iRow = r->nRow;
  u16 f = pMem->flags;
  int rc;
  if( f & MEM_Null ){
    if( c->eKind==RP_NULL ) return SQLITE_OK;
    rpSetNull(c, iRow);
    c->aNumber[iRow] = 0;
    c->aEnd[iRow] = c->eKind==RP_TEXT ? c->nUnit : c->nByte;
    c->aTag[iRow] = RP_TAG_NULL;
  }else if( f & (MEM_Int|MEM_Real|MEM_IntReal) ){
    i64 i = pMem->u.i;
    double x = (f & MEM_Real) ? pMem->u.r : (double)i;
    int bBig = (f & MEM_Int) && (i>9007199254740991LL || i<-9007199254740991LL);
    if( c->eKind==RP_NULL && !bBig ) rpBecome(c, RP_NUMBER, iRow);
    if( c->eKind!=RP_MIXED && (bBig || c->eKind!=RP_NUMBER) ) rpBecomeMixed(c, iRow);
    if( bBig ) memcpy(&c->aNumber[iRow], &i, 8); else c->aNumber[iRow] = x;
    c->aTag[iRow] = bBig ? RP_TAG_INTEGER : RP_TAG_REAL;
  }else{
    u32 eKind = (f & MEM_Str) ? RP_TEXT : RP_BLOB, n, iStart;
    const u8 *a;
    int nUnit;
    if( c->eKind==RP_NULL ) rpBecome(c, eKind, iRow);
    if( c->eKind!=eKind && c->eKind!=RP_MIXED ) rpBecomeMixed(c, iRow);
    if( (f & MEM_Zero) || ((f & MEM_Str) && pMem->enc!=SQLITE_UTF8) ){
      a = eKind==RP_TEXT ? sqlite3_column_text(pStmt, iColumn) : sqlite3_column_blob(pStmt, iColumn);
      n = (u32)sqlite3_column_bytes(pStmt, iColumn);
      if( a==0 && n>0 ) return SQLITE_NOMEM;
    }else{
      a = (const u8*)pMem->z;
      n = (u32)pMem->n;
    }
    iStart = c->nByte;
    nUnit = c->eKind==RP_TEXT ? rpUnits(a, n) : 0;
    if( nUnit<0 ){
      rc = rpAppendReplaced(c, a, n);
      if( rc!=SQLITE_OK ) return rc;
    }else{
      rc = rpReserve(c, n);
      if( rc!=SQLITE_OK ) return rc;
      if( n>0 ) memcpy(&c->aByte[iStart], a, n);
      c->nByte += n;
      c->nUnit += (u32)nUnit;
    }
    r->nTextBytes += n;
    c->aEnd[iRow] = c->eKind==RP_TEXT ? c->nUnit : c->nByte;
    if( c->eKind==RP_MIXED ){
      rpSetRange(c, iRow, iStart, n);
      c->aTag[iRow] = eKind==RP_TEXT ? RP_TAG_TEXT : RP_TAG_BLOB;
    }
  }
  return SQLITE_OK;
}

/* The rows to which a scan (scan.c) may append rows of the result. Set while rockpool_rows_take() steps. */
static struct { Vdbe *pVdbe; RpRows *pRows; u32 nMost; int rc; } rpTaking;

/* Returns the stored rows. */
RP_EXPORT RpRows *rockpool_rows(void){
  return &rpRows;
}

/*
** Steps the statement and stores up to nMost rows, after the stored rows or, if bFirst is set, instead of them.
** Returns SQLITE_ROW if there may be more rows, SQLITE_DONE at the end, RP_FULL, RP_TOO_LARGE, or an error of SQLite.
*/
RP_EXPORT int rockpool_rows_take(sqlite3_stmt *pStmt, int bFirst, u32 nMost){
  RpRows *r = &rpRows;
  Vdbe *v = (Vdbe*)pStmt;
  int rc = SQLITE_OK;
  for(;;){
    Mem *aMem;
    u32 i;
    int rcStep;
    rpTaking.pVdbe = bFirst ? 0 : v;
    rpTaking.pRows = r;
    rpTaking.nMost = nMost;
    rpTaking.rc = SQLITE_OK;
    rcStep = sqlite3_step(pStmt);
    rpTaking.pVdbe = 0;
    if( rpTaking.rc!=SQLITE_OK ) return rpTaking.rc;
    nMost = rpTaking.nMost;
    if( bFirst ){
      rc = rpBeginRows(r, (u32)v->nResColumn);
      if( rc!=SQLITE_OK ) return rc;
      r->nReprepare = v->aCounter[SQLITE_STMTSTATUS_REPREPARE];
      bFirst = 0;
    }
    if( rcStep!=SQLITE_ROW ) return rcStep;
    if( r->nRow>=r->nRowAlloc && (rc = rpGrowRows(r))!=SQLITE_OK ) return rc;
    aMem = v->pResultRow;
    for(i=0; i<r->nColumn; i++){
      rc = rpAppend(r, &r->aColumn[i], &aMem[i], pStmt, (int)i);
      if( rc!=SQLITE_OK ) return rc;
    }
    r->nRow++;
    if( r->nTextBytes>=RP_FULL_BYTES || r->nRow*r->nColumn>=RP_FULL_CELLS ) return RP_FULL;
    if( --nMost==0 ) return SQLITE_ROW;
  }
}
