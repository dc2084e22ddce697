/*
** Batches. scan.c executes all instructions for one row, then for the next row. A batch executes one instruction for many
** rows of a leaf page, then the next instruction. So each instruction is one short loop over the remaining rows.
**
** A batch reads columns, drops rows by comparisons with constants, NULL tests and LIKE, and has effects only for the
** remaining rows: counts, sums, minima and maxima, of all rows or by group, or rows of the result. If other instructions
** follow a filter, the batch only filters, and rpRunRows() executes the rows that pass as if there were no batch.
**
** A batch reads all columns before its first effect. A row that could fail or give another result ends the batch before
** that row, and rpRunRows() executes it. A batch writes no register, because only the batch reads the loop's registers.
*/

#define RP_BATCH_ROWS 64
#define RP_BATCH_SLOTS 16
#define RP_BATCH_STEPS 64
#define RP_BATCH_NUMBERS 4
#define RP_BATCH_SKIPPED 3
#define RP_RECENT 4096
/* The number of places where a group may be, from the place of its hash on. */
#define RP_RECENT_PLACES 4
#define RP_JSON_STEPS 8
#define RP_JSON_DEPTH 100
/* The type of a slot for the rowid. The slot points to the varint. */
#define RP_TYPE_ROWID 11

enum {
  RP_B_SKIP,                /* Reads the column of a slot, which is iSkip columns after the column that was read last */
  RP_B_ROWID, RP_B_SUBSTR, RP_B_JSON, RP_B_ARITHMETIC,
  RP_B_COMPARE, RP_B_NULL, RP_B_LIKE,
  RP_B_ROWS,                /* rpRunRows() executes the other instructions */
  RP_B_COUNT, RP_B_SUM, RP_B_BEST,
  RP_B_GROUP, RP_B_GROUP_COUNT, RP_B_GROUP_SUM, RP_B_GROUP_BEST,
  RP_B_RESULT
};

typedef struct RpStep RpStep;
struct RpStep {
  u8 eStep;
  u8 bReal;                 /* The value of the slot is a real even if an integer is stored */
  u8 iSlot;                 /* RP_B_GROUP, RP_B_RESULT: the first of aiSlot */
  u8 iOther, bOtherReal;    /* RP_B_ARITHMETIC: iSlot and bReal of the second operand. A slot may be RP_CONSTANT */
  u8 iOut;                  /* RP_B_SUBSTR, RP_B_JSON, RP_B_ARITHMETIC: the slot of the result */
  u8 iNumbers;              /* RP_B_JSON, RP_B_ARITHMETIC: index of rpB.aNumber */
  u8 keep;                  /* RP_B_COMPARE: bits for less, equal, greater, NULL. RP_B_NULL, RP_B_LIKE: keep matches */
  u8 bDefault;              /* RP_B_SKIP: the column has a default for rows that do not store it */
  u8 iSkipped;              /* RP_B_SKIP: index of aSkipped, or RP_BATCH_SKIPPED */
  u8 nNext;                 /* RP_B_SKIP: how many of the next steps read the columns directly after this column */
  u32 iSkip;
  u32 iInsn;
};

typedef struct RpRegister RpRegister;
struct RpRegister {
  u8 iSlot, bReal;
  Mem *pMem;                /* The register that the slot replaces. If iSlot is RP_CONSTANT, a constant */
};
#define RP_CONSTANT 255

/*
** The columns that a step skips in a row: the bytes of their types, and their lengths in the header and in the row.
** The rows of most tables have few different sequences of types. Finding a sequence is faster than parsing it again.
*/
typedef struct RpSkipped RpSkipped;
struct RpSkipped {
  u64 mask, types;          /* 0 and 1 in an empty entry, which matches no row */
  u32 nHeader, nData;
};

struct RpBatch {
  u8 bOneColumn;            /* Only the first step reads the row. All others read slots */
  u8 bCountAlone;           /* The batch only counts rows and reads none */
  u32 nStep, nSlot, nValue, nNumbers, nSkipped;
  RpStep aStep[RP_BATCH_STEPS];
  RpRegister aValue[RP_BATCH_SLOTS*2];  /* The values of RP_B_GROUP and RP_B_RESULT */
  RpSkipped aSkipped[RP_BATCH_SKIPPED][16];
};

/* The rows of a batch. A slot holds the type of a column and a pointer to its value. */
static struct {
  u32 nSel, nRow;           /* nRow: the batch ends before this row */
  u8 aSel[RP_BATCH_ROWS];
  const u8 *apRowid[RP_BATCH_ROWS], *apRow[RP_BATCH_ROWS];
  u32 aPayload[RP_BATCH_ROWS];
  const u8 *apHeader[RP_BATCH_ROWS], *apData[RP_BATCH_ROWS];
  u32 aType[RP_BATCH_SLOTS][RP_BATCH_ROWS];
  const u8 *apValue[RP_BATCH_SLOTS][RP_BATCH_ROWS];
  RpGroup *apGroup[RP_BATCH_ROWS];
  u8 aNumber[RP_BATCH_NUMBERS][RP_BATCH_ROWS][8];  /* In the format of a record */
} rpB;

/* The size of a value by its serial type of one byte. 255: rpSkipColumns() must read the type. */
static u8 rpTypeSize[256];
/* A selection of all rows. */
static u8 rpFirstRows[RP_BATCH_ROWS];

/* The entry of aSkipped for n columns. w: the header from the first column on. nShift: 64-8*n, where n is at most 8. */
#define RP_SKIPPED_SLOT(w, nShift) ((u32)((((w) << (nShift)) * 0x9E3779B97F4A7C15ULL)>>60))

#define RP_HIGH 0x8080808080808080ULL
/* Sets the high bit of each byte that is 0 in w. It may also be set in bytes after the first byte that is 0. */
#define RP_ZEROS(w) (((w)-RP_ONES) & ~(w) & RP_HIGH)

/* ---------------------------------------------------------------- Values */

static SQLITE_INLINE u32 rpSwap32(const u8 *z){
  u32 w;
  memcpy(&w, z, 4);
  return (w<<24) | ((w&0xff00)<<8) | ((w>>8)&0xff00) | (w>>24);
}

static SQLITE_NOINLINE i64 rpLargeInteger(u32 t, const u8 *z){
  return t==5 ? SIX_BYTE_INT(z) : (i64)sqlite3Get8byte(z);
}
/* An integer of type 1 to 6, 8 or 9. Reads up to three bytes behind the integer, which every buffer has. */
static SQLITE_INLINE i64 rpInteger(u32 t, const u8 *z){
  if( t<=4 ) return (int)rpSwap32(z) >> (32-8*t);
  if( t>=8 ) return t-8;
  return rpLargeInteger(t, z);
}
static SQLITE_INLINE double rpDouble(const u8 *z){
  u64 x = sqlite3Get8byte(z);
  double r;
  swapMixedEndianFloat(x);
  memcpy(&r, &x, 8);
  return r;
}

/* Writes x in the format of a record. */
static SQLITE_INLINE void rpPut8byte(u8 *a, u64 x){
  x = __builtin_bswap64(x);
  memcpy(a, &x, 8);
}

RP_MEDIUM static SQLITE_NOINLINE void rpLoadSlot(Mem *pMem, u32 iSlot, u32 i, int bReal){
  u32 t = rpB.aType[iSlot][i];
  if( t==RP_TYPE_ROWID ){
    RP_WRITABLE(pMem);
    sqlite3GetVarint(rpB.apValue[iSlot][i], (u64*)&pMem->u.i);
    pMem->flags = MEM_Int;
  }else{
    rpLoad(pMem, t, rpB.apValue[iSlot][i]);
    if( bReal && (pMem->flags & MEM_Int) ) sqlite3VdbeMemRealify(pMem);
  }
}

/* Ends the batch before the row at position j of the selection. */
RP_SMALL static void rpCut(u32 j){
  if( j>=rpB.nSel ) return;
  rpB.nRow = rpB.aSel[j];
  rpB.nSel = j;
}

/* ---------------------------------------------------------------- Steps before the first effect */

/*
** Finds the type and the value of the column that is iSkip columns after the position in the header. Returns 0 if
** rpRunRows() should read the row. Where the header ends, the row must end, too.
*/
RP_MEDIUM static SQLITE_NOINLINE int rpSkipColumns(struct RpBatch *pBatch, const RpStep *pStep, u32 i, const u8 *z, const u8 *d, const u8 *pHeaderEnd, const u8 *pEnd){
  const u8 *zFirst = z, *dFirst = d;
  u32 k, t;
  int bFound = 0;
  for(k=0; z<pHeaderEnd; k++){
    const u8 *zType = z;
    t = *z++;
    if( t>=0x80 ){
      z += sqlite3GetVarint32(zType, &t) - 1;
      if( (t-12)/2>(u32)(pEnd-pHeaderEnd) ) return 0;
    }
    if( k==pStep->iSkip ){
      if( t==10 || t==11 ) return 0;
      rpB.aType[pStep->iSlot][i] = t;
      rpB.apValue[pStep->iSlot][i] = d;
      if( pStep->iSkipped<RP_BATCH_SKIPPED && zType-zFirst<=8 ){
        u64 w;
        RpSkipped *p;
        memcpy(&w, zFirst, 8);
        p = &pBatch->aSkipped[pStep->iSkipped][RP_SKIPPED_SLOT(w, 64-8*MIN(k, 8))];
        p->nHeader = (u32)(zType-zFirst);
        p->nData = (u32)(d-dFirst);
        p->mask = ~(u64)0 >> (64-8*p->nHeader);
        p->types = w & p->mask;
      }
      bFound = 1;
    }
    d += t<0x80 ? sqlite3SmallTypeSizes[t] : (t-12)/2;
    if( d>pEnd ) return 0;
    if( bFound ) break;
  }
  if( !bFound ){
    /* The row is older than the column, which ALTER TABLE added. */
    if( pStep->bDefault || d!=pEnd ) return 0;
    rpB.aType[pStep->iSlot][i] = 0;
    rpB.apValue[pStep->iSlot][i] = d;
  }
  if( d>pEnd || z>pHeaderEnd || (z==pHeaderEnd && d!=pEnd) ) return 0;
  rpB.apHeader[i] = z;
  rpB.apData[i] = d;
  return 1;
}

/* The fields of a step that rpReadColumn() reads, for local variables. */
typedef struct RpReader RpReader;
struct RpReader {
  u32 *aType;
  const u8 **apValue;
  const RpSkipped *aSkipped;  /* 0: the step has none */
  u32 nShift;
};
static RpReader rpReader(struct RpBatch *pBatch, const RpStep *pStep){
  RpReader r;
  r.aType = rpB.aType[pStep->iSlot];
  r.apValue = rpB.apValue[pStep->iSlot];
  r.aSkipped = pStep->iSkipped<RP_BATCH_SKIPPED ? pBatch->aSkipped[pStep->iSkipped] : 0;
  r.nShift = 64-8*MIN(pStep->iSkip, 8);
  return r;
}

/* rpSkipColumns(), faster if the types of the skipped columns are known. bMore: also stores the new position. */
static SQLITE_INLINE int rpReadColumn(RpReader r, struct RpBatch *pBatch, const RpStep *pStep, u32 i, const u8 *z, const u8 *d, const u8 *pHeaderEnd, const u8 *pEnd, int bMore){
  const u8 *zType = z, *pValue = d;
  u32 t, n;
  if( r.aSkipped ){
    u64 w;
    const RpSkipped *p;
    memcpy(&w, z, 8);
    p = &r.aSkipped[RP_SKIPPED_SLOT(w, r.nShift)];
    if( (w & p->mask)!=p->types ) return rpSkipColumns(pBatch, pStep, i, z, d, pHeaderEnd, pEnd);
    zType += p->nHeader;
    pValue += p->nData;
  }else if( pStep->iSkip ){
    return rpSkipColumns(pBatch, pStep, i, z, d, pHeaderEnd, pEnd);
  }
  t = *zType;
  n = rpTypeSize[t];
  if( n==255 || zType>=pHeaderEnd ) return rpSkipColumns(pBatch, pStep, i, z, d, pHeaderEnd, pEnd);
  r.aType[i] = t;
  r.apValue[i] = pValue;
  pValue += n;
  zType++;
  if( bMore ){
    rpB.apHeader[i] = zType;
    rpB.apData[i] = pValue;
  }
  return pValue<=pEnd && (zType<pHeaderEnd || pValue==pEnd);
}

/*
** Finds the next rows that fit their page and have a header of less than 128 bytes. pStep: the first step if it reads a
** column, otherwise 0. This function then executes pStep. bMore: whether other steps read the row.
*/
static SQLITE_NOINLINE void rpBatchCells(struct RpBatch *pBatch, const RpStep *pStep, MemPage *pPage, u32 iCell, u32 n, int bMore){
  const u8 *aData = pPage->aData, *aCellIdx = &pPage->aCellIdx[2*iCell], *aDataEnd = pPage->aDataEnd;
  u32 maskPage = pPage->maskPage, maxLocal = pPage->maxLocal, i;
  int bTable = pPage->intKey;
  RpReader r = { 0, 0, 0, 0 };
  if( pStep ) r = rpReader(pBatch, pStep);
  for(i=0; i<n; i++){
    const u8 *z = &aData[maskPage & get2byteAligned(&aCellIdx[2*i])], *pHeaderEnd, *pEnd;
    u32 nPayload = *z++, nHeader;
    u64 w;
    if( nPayload>=0x80 ){
      if( *z<0x80 ) nPayload = (nPayload&0x7f)<<7 | *z++;
      else z += sqlite3GetVarint32(z-1, &nPayload) - 1;
    }
    if( bTable ){
      if( bMore ) rpB.apRowid[i] = z;
      /* The rowid ends with the first byte that has no high bit, or with the ninth. */
      memcpy(&w, z, 8);
      w = ~w & 0x8080808080808080ULL;
      z += w ? (u32)__builtin_ctzll(w)/8 + 1 : 9;
    }
    nHeader = *z;
    /* For a row that fits its page, the pointers cannot overflow: more memory than a page follows each page. */
    pHeaderEnd = &z[nHeader];
    pEnd = &z[nPayload];
    if( nPayload>maxLocal || pEnd>aDataEnd || nHeader-1>=0x7f || nHeader>nPayload ) break;
    if( bMore ){
      rpB.apRow[i] = z;
      rpB.aPayload[i] = nPayload;
    }
    if( pStep==0 ){
      rpB.apHeader[i] = z+1;
      rpB.apData[i] = pHeaderEnd;
    }else if( !rpReadColumn(r, pBatch, pStep, i, z+1, pHeaderEnd, pHeaderEnd, pEnd, bMore) ){
      break;
    }
  }
  memcpy(rpB.aSel, rpFirstRows, RP_BATCH_ROWS);
  rpB.nSel = rpB.nRow = i;
}

/* Reads the column of pStep and the next nNext columns, which the next steps would read. */
static void rpBatchSkip(struct RpBatch *pBatch, const RpStep *pStep, u32 nNext){
  u32 nSel = rpB.nSel, j, c;
  RpReader r = rpReader(pBatch, pStep);
  for(j=0; j<nSel; j++){
    u32 i = rpB.aSel[j];
    const u8 *pRow = rpB.apRow[i], *pHeaderEnd = &pRow[*pRow], *pEnd = &pRow[rpB.aPayload[i]], *z, *d;
    if( !rpReadColumn(r, pBatch, pStep, i, rpB.apHeader[i], rpB.apData[i], pHeaderEnd, pEnd, 1) ) break;
    if( nNext==0 ) continue;
    z = rpB.apHeader[i];
    d = rpB.apData[i];
    for(c=1; c<=nNext; c++){
      u32 t = *z, n = rpTypeSize[t];
      if( n==255 || z>=pHeaderEnd ){
        if( !rpSkipColumns(pBatch, &pStep[c], i, z, d, pHeaderEnd, pEnd) ) break;
        z = rpB.apHeader[i];
        d = rpB.apData[i];
        continue;
      }
      rpB.aType[pStep[c].iSlot][i] = t;
      rpB.apValue[pStep[c].iSlot][i] = d;
      z++;
      d += n;
    }
    if( c<=nNext || d>pEnd || (z>=pHeaderEnd && d!=pEnd) ) break;
    rpB.apHeader[i] = z;
    rpB.apData[i] = d;
  }
  rpCut(j);
}

/* substr(text, from, length) of ASCII text with constants. Reads up to seven bytes behind the text. */
RP_SMALL static void rpBatchSubstr(const RpStep *pStep, const RpInsn *q){
  i64 iFrom = q->p1[1].u.i, nMost = q->p1[2].u.i;
  u32 j;
  if( ((q->p1[1].flags & q->p1[2].flags) & MEM_Int)==0 || iFrom<1 || nMost<0 || iFrom>1000 || nMost>1000 ){
    rpCut(0);
    return;
  }
  for(j=0; j<rpB.nSel; j++){
    u32 i = rpB.aSel[j], t = rpB.aType[pStep->iSlot][i], n, k, nRead;
    const u8 *z = rpB.apValue[pStep->iSlot][i];
    u64 w, odd;
    if( t==0 ){
      rpB.aType[pStep->iOut][i] = 0;
      continue;
    }
    if( t<13 || (t&1)==0 ) break;
    n = (t-13)/2;
    nRead = (u32)MIN((i64)n, iFrom-1+nMost);
    for(k=0, odd=0; k<nRead; k+=8){
      memcpy(&w, &z[k], 8);
      if( nRead-k<8 ) w = (w & ~(~(u64)0 << 8*(nRead-k))) | (RP_ONES << 8*(nRead-k));
      odd |= RP_ZEROS(w) | (w & RP_HIGH);
    }
    if( odd ) break;
    if( nRead<(u32)iFrom ) nRead = (u32)iFrom-1;
    rpB.aType[pStep->iOut][i] = 13 + 2*(nRead-(u32)iFrom+1);
    rpB.apValue[pStep->iOut][i] = (u32)iFrom-1<=n ? &z[iFrom-1] : z;
  }
  rpCut(j);
}

/* A path of keys and indexes, and the value at the path. */
typedef struct RpJson RpJson;
struct RpJson {
  u32 nStep;
  struct { const u8 *z; u32 n; u32 iIndex; } aStep[RP_JSON_STEPS];  /* If z is 0, an index */
  const u8 *pEnd;
  const u8 *pFound, *pFoundEnd;
  u8 bEscaped, bReal;       /* Whether the value that was read last has escapes, or is a real */
};

/* Parses a path like '$.key[1].key', or with bKeyAlone a key. Returns 0 for any other text. */
RP_SMALL static int rpJsonPath(RpJson *p, const Mem *pPath, int bKeyAlone){
  const u8 *z = (const u8*)pPath->z, *pEnd = &z[pPath->n];
  p->nStep = 0;
  if( (pPath->flags & (MEM_Str|MEM_Int|MEM_Real|MEM_Blob|MEM_Null))!=MEM_Str || pPath->n<1 ) return 0;
  if( *z!='$' ){
    if( !bKeyAlone ) return 0;
    p->aStep[0].z = z;
    p->aStep[0].n = (u32)pPath->n;
    p->nStep = 1;
    for(; z<pEnd && sqlite3Isalnum(*z); z++){}
    return z==pEnd;
  }
  for(z++; z<pEnd; p->nStep++){
    if( p->nStep>=RP_JSON_STEPS ) return 0;
    if( *z=='.' ){
      p->aStep[p->nStep].z = ++z;
      for(; z<pEnd && (sqlite3Isalnum(*z) || *z=='_'); z++){}
      p->aStep[p->nStep].n = (u32)(z - p->aStep[p->nStep].z);
      if( p->aStep[p->nStep].n==0 ) return 0;
    }else if( *z=='[' ){
      u32 i = 0, n = 0;
      for(z++; z<pEnd && sqlite3Isdigit(*z) && n<6; z++, n++) i = i*10 + (u32)(*z-'0');
      if( n==0 || z>=pEnd || *z!=']' ) return 0;
      z++;
      p->aStep[p->nStep].z = 0;
      p->aStep[p->nStep].iIndex = i;
    }else{
      return 0;
    }
  }
  return p->nStep>0;
}

#define RP_JSON_SPACE(z, pEnd) while( (z)<(pEnd) && (*(z)==' ' || *(z)=='\n' || *(z)=='\r' || *(z)=='\t') ) (z)++

/* Returns the closing quote of a string whose first byte is at z, or 0 if SQLite should read the string. */
static const u8 *rpJsonString(RpJson *p, const u8 *z){
  const u8 *pEnd = p->pEnd;
  p->bEscaped = 0;
  for(; z<pEnd; z++){
    u8 c = *z;
    if( c=='"' ) return z;
    if( c<0x20 ) return 0;
    if( c=='\\' ){
      p->bEscaped = 1;
      if( ++z>=pEnd ) return 0;
      if( *z=='u' ){
        if( pEnd-z<5 || !sqlite3Isxdigit(z[1]) || !sqlite3Isxdigit(z[2]) || !sqlite3Isxdigit(z[3]) || !sqlite3Isxdigit(z[4]) ) return 0;
        z += 4;
      }else if( *z==0 || strchr("\"\\/bfnrt", *z)==0 ){
        return 0;
      }
    }
  }
  return 0;
}

/*
** Reads a value as RFC 8259 defines it, and finds the path in the value. Like SQLite, it takes the first match at each
** level. iStep: how many steps of the path lead to this value, or -1 if it is not on the path. Returns the end of the
** value, or 0 if SQLite should read the text: if it is not JSON, is valid only as JSON5, or has keys with escapes.
*/
RP_MEDIUM static const u8 *rpJsonValue(RpJson *p, const u8 *z, int iStep, int nDepth){
  const u8 *pEnd = p->pEnd, *pFirst = z;
  if( z>=pEnd ) return 0;
  switch( *z ){
    case '{': case '[': {
      int bObject = *z=='{', bSearch;
      u8 cEnd = bObject ? '}' : ']';
      u32 i = 0;
      if( nDepth>RP_JSON_DEPTH ) return 0;
      bSearch = iStep>=0 && iStep<(int)p->nStep && (p->aStep[iStep].z!=0)==bObject;
      z++;
      RP_JSON_SPACE(z, pEnd);
      if( z<pEnd && *z==cEnd ){
        z++;
        break;
      }
      for(;; i++){
        int iNext = -1;
        if( bObject ){
          const u8 *zKey = ++z;
          if( zKey>=pEnd || zKey[-1]!='"' ) return 0;
          z = rpJsonString(p, z);
          if( z==0 || p->bEscaped ) return 0;
          if( bSearch && (u32)(z-zKey)==p->aStep[iStep].n && memcmp(zKey, p->aStep[iStep].z, (size_t)(z-zKey))==0 ) iNext = iStep+1;
          z++;
          RP_JSON_SPACE(z, pEnd);
          if( z>=pEnd || *z!=':' ) return 0;
          z++;
          RP_JSON_SPACE(z, pEnd);
        }else if( bSearch && i==p->aStep[iStep].iIndex ){
          iNext = iStep+1;
        }
        if( iNext>=0 ) bSearch = 0;
        z = rpJsonValue(p, z, iNext, nDepth+1);
        if( z==0 ) return 0;
        RP_JSON_SPACE(z, pEnd);
        if( z>=pEnd ) return 0; /* The text ends within the value. */
        if( *z==cEnd ){
          z++;
          break;
        }
        if( *z!=',' ) return 0;
        z++;
        RP_JSON_SPACE(z, pEnd);
      }
      break;
    }
    case '"':
      z = rpJsonString(p, z+1);
      if( z==0 ) return 0;
      z++;
      break;
    case 't':
      if( pEnd-z<4 || memcmp(z, "true", 4) ) return 0;
      z += 4;
      break;
    case 'f':
      if( pEnd-z<5 || memcmp(z, "false", 5) ) return 0;
      z += 5;
      break;
    case 'n':
      if( pEnd-z<4 || memcmp(z, "null", 4) ) return 0;
      z += 4;
      break;
    default: {
      p->bReal = 0;
      if( *z=='-' ) z++;
      if( z>=pEnd || !sqlite3Isdigit(*z) || (*z=='0' && &z[1]<pEnd && sqlite3Isdigit(z[1])) ) return 0;
      while( z<pEnd && sqlite3Isdigit(*z) ) z++;
      if( z<pEnd && *z=='.' ){
        p->bReal = 1;
        z++;
        if( z>=pEnd || !sqlite3Isdigit(*z) ) return 0;
        while( z<pEnd && sqlite3Isdigit(*z) ) z++;
      }
      if( z<pEnd && (*z=='e' || *z=='E') ){
        p->bReal = 1;
        z++;
        if( z<pEnd && (*z=='+' || *z=='-') ) z++;
        if( z>=pEnd || !sqlite3Isdigit(*z) ) return 0;
        while( z<pEnd && sqlite3Isdigit(*z) ) z++;
      }
    }
  }
  if( iStep==(int)p->nStep ){
    p->pFound = pFirst;
    p->pFoundEnd = z;
  }
  return z;
}

/* Finds the value at the path in a text. Returns its first character, 'n' for none, or 0 if SQLite should read it. */
RP_SMALL static u8 rpFindInText(RpJson *p, const u8 *z, u32 n){
  p->pEnd = &z[n];
  p->pFound = 0;
  RP_JSON_SPACE(z, p->pEnd);
  z = rpJsonValue(p, z, 0, 0);
  if( z==0 ) return 0;
  RP_JSON_SPACE(z, p->pEnd);
  if( z!=p->pEnd ) return 0;
  if( p->pFound==0 ) return 'n';
  if( *p->pFound!='"' ) return *p->pFound;
  p->pFound++;
  p->pFoundEnd--;
  return memchr(p->pFound, '\\', (size_t)(p->pFoundEnd-p->pFound)) ? 0 : '"';
}

/* rpFindInText() for JSONB. SQLite should read keys and texts with escapes, numbers of JSON5, and damaged JSONB. */
RP_SMALL static u8 rpFindInBinary(RpJson *p, const u8 *a, u32 n){
  static const u8 aFirst[] = { 'n', 't', 'f', '0', 0, '0', 0, '"', 0, 0, '"', 0, 0, 0, 0, 0 };
  u32 i = 0, iStep, sz, nHeader = n ? rpJsonHeader(a, 0, n, &sz) : 0;
  /* A short blob may be JSON text. SQLite decides which it is. */
  if( nHeader==0 || nHeader+sz!=n || (a[0]&15)<RP_JSON_ARRAY || (a[0]&15)>RP_JSON_ARRAY+1 || sz<=7 ) return 0;
  for(iStep=0; iStep<p->nStep; iStep++){
    const u8 *zKey = p->aStep[iStep].z;
    u32 j = i+nHeader, iEnd = j+sz, k = 0;
    if( (a[i]&15)!=(zKey ? RP_JSON_ARRAY+1 : RP_JSON_ARRAY) ) return 'n';
    for(;; j+=nHeader+sz, k++){
      int bMatch = k==p->aStep[iStep].iIndex;
      if( j>=iEnd ) return 'n';
      if( zKey ){
        nHeader = rpJsonHeader(a, j, iEnd, &sz);
        if( nHeader==0 || ((a[j]&15)!=RP_JSON_TEXT && (a[j]&15)!=RP_JSON_TEXTRAW) ) return 0;
        bMatch = sz==p->aStep[iStep].n && memcmp(&a[j+nHeader], zKey, sz)==0;
        j += nHeader+sz;
        if( j>=iEnd ) return 0;
      }
      nHeader = rpJsonHeader(a, j, iEnd, &sz);
      if( nHeader==0 || (a[j]&15)>RP_JSON_ARRAY+1 ) return 0;
      if( bMatch ) break;
    }
    i = j;
  }
  p->pFound = &a[i+nHeader];
  p->pFoundEnd = &p->pFound[sz];
  return (a[i]&15)<3 && sz ? 0 : aFirst[a[i]&15];
}

/* json_extract(text, path) and text ->> path, also for JSONB. Stores scalars in the format of a record. */
RP_SMALL static void rpBatchJson(const RpStep *pStep, const RpInsn *q){
  RpJson json;
  u32 j;
  int bPath = rpJsonPath(&json, &q->p1[1], q->pOp->p4.pCtx->pFunc->pUserData==SQLITE_INT_TO_PTR(JSON_SQL));
  for(j=0; j<rpB.nSel; j++){
    u32 i = rpB.aSel[j], t = rpB.aType[pStep->iSlot][i], n, k;
    const u8 *z = rpB.apValue[pStep->iSlot][i];
    u32 *pType = &rpB.aType[pStep->iOut][i];
    u8 *a = rpB.aNumber[pStep->iNumbers][i], c;
    u64 x = 0;
    rpB.apValue[pStep->iOut][i] = a;
    *pType = 0;
    if( !bPath ) break;
    if( t==0 ) continue;
    if( t<12 ) break;
    c = (t&1) ? rpFindInText(&json, z, (t-13)/2) : rpFindInBinary(&json, z, (t-12)/2);
    if( c==0 || c=='{' || c=='[' ) break;
    if( c=='n' ) continue;
    z = json.pFound;
    n = (u32)(json.pFoundEnd-z);
    if( c=='"' ){
      *pType = 13 + 2*n;
      rpB.apValue[pStep->iOut][i] = z;
      continue;
    }
    if( c=='t' || c=='f' ){
      *pType = c=='t' ? 9 : 8;
      continue;
    }
    for(k=n>0 && *z=='-'; k<n && sqlite3Isdigit(z[k]) && k<18; k++) x = x*10 + (u64)(z[k]-'0');
    if( k==n && n>0 && z[n-1]!='-' ){
      if( *z=='-' ) x = 0-x;
      *pType = 6;
    }else{
      char zNumber[48];
      double r;
      if( n>=sizeof(zNumber) ) break;
      memcpy(zNumber, z, n);
      zNumber[n] = 0;
      if( strpbrk(zNumber, ".eE")==0 || sqlite3AtoF(zNumber, &r)<=0 ) break;
      memcpy(&x, &r, 8);
      swapMixedEndianFloat(x);
      *pType = 7;
    }
    rpPut8byte(a, x);
  }
  rpCut(j);
}

/* Reads an operand. Returns 0 for NULL, 1 for an integer, 2 for a real, or -1 if rpRunRows() must convert it. */
static SQLITE_INLINE int rpOperand(u32 iSlot, u32 i, int bReal, const Mem *pConst, i64 *pi, double *pr){
  u32 t;
  const u8 *z;
  if( iSlot==RP_CONSTANT ){
    u16 f = pConst->flags & (MEM_Int|MEM_Real|MEM_IntReal|MEM_Str|MEM_Blob|MEM_Null);
    *pi = pConst->u.i;
    *pr = f==MEM_Real ? pConst->u.r : (double)pConst->u.i;
    return f==MEM_Int ? 1 : f==MEM_Real ? 2 : -1;
  }
  t = rpB.aType[iSlot][i];
  z = rpB.apValue[iSlot][i];
  if( t==7 ){
    *pr = rpDouble(z);
    return isnan(*pr) ? 0 : 2;
  }
  if( t==0 || t>9 ) return t==0 ? 0 : -1;
  *pi = rpInteger(t, z);
  *pr = (double)*pi;
  return bReal ? 2 : 1;
}

/* OP_Add, OP_Subtract, OP_Multiply. A row with a text operand, or whose result overflows, ends the batch. */
RP_MEDIUM static void rpBatchArithmetic(const RpStep *pStep, const RpInsn *q){
  u8 opcode = q->pOp->opcode;
  u32 j;
  for(j=0; j<rpB.nSel; j++){
    u32 i = rpB.aSel[j], *pType = &rpB.aType[pStep->iOut][i];
    u8 *a = rpB.aNumber[pStep->iNumbers][i];
    i64 iA, iB;
    double rA, rB;
    int eA = rpOperand(pStep->iSlot, i, pStep->bReal, q->p1, &iA, &rA), eB = rpOperand(pStep->iOther, i, pStep->bOtherReal, q->p2, &iB, &rB);
    rpB.apValue[pStep->iOut][i] = a;
    *pType = 0;
    if( (eA|eB)<0 ) break;
    if( eA==0 || eB==0 ) continue;
    if( eA+eB==2 ){
      if( opcode==OP_Add ? sqlite3AddInt64(&iB, iA) : opcode==OP_Subtract ? sqlite3SubInt64(&iB, iA) : sqlite3MulInt64(&iB, iA) ) break;
      *pType = 6;
    }else{
      u64 x;
      rB = opcode==OP_Add ? rB+rA : opcode==OP_Subtract ? rB-rA : rB*rA;
      memcpy(&x, &rB, 8);
      swapMixedEndianFloat(x);
      iB = (i64)x;
      *pType = 7;
    }
    rpPut8byte(a, (u64)iB);
  }
  rpCut(j);
}

RP_SMALL static void rpBatchNull(const RpStep *pStep){
  u32 j, n = 0;
  for(j=0; j<rpB.nSel; j++){
    u32 i = rpB.aSel[j], t = rpB.aType[pStep->iSlot][i];
    int bNull = t==0 || (t==7 && isnan(rpDouble(rpB.apValue[pStep->iSlot][i])));
    rpB.aSel[n] = (u8)i;
    n += bNull==pStep->keep;
  }
  rpB.nSel = n;
}

static SQLITE_NOINLINE int rpBytesCompare(const u8 *a, u32 nA, const u8 *b, u32 nB){
  u32 n = MIN(nA, nB), k = 0;
  u64 x, y;
  for(; k+8<=n; k+=8){
    memcpy(&x, &a[k], 8);
    memcpy(&y, &b[k], 8);
    if( x!=y ){
      k += (u32)__builtin_ctzll(x^y)/8;
      break;
    }
  }
  for(; k<n && a[k]==b[k]; k++){}
  if( k<n ) return a[k]<b[k] ? 0 : 2;
  return nA<nB ? 0 : nA==nB ? 1 : 2;
}

/* Keeps the rows for which a comparison with a constant does not jump to the end of the row. */
static void rpBatchCompare(const RpStep *pStep, const RpInsn *q){
  const Mem *pConst = q->p1;
  const u32 *aType = rpB.aType[pStep->iSlot];
  const u8 **apValue = rpB.apValue[pStep->iSlot];
  u32 j, n = 0, nSel = rpB.nSel, keep = pStep->keep;
  u16 f = pConst->flags & (MEM_Int|MEM_Real|MEM_IntReal|MEM_Str|MEM_Blob|MEM_Null);
  u8 affinity = q->pOp->p5 & SQLITE_AFF_MASK;
  int bInteger = f==MEM_Int, bReal, bText;
  i64 iConst = pConst->u.i;
  double rConst = bInteger ? (double)iConst : pConst->u.r;
  /* Compares reals as doubles, also with an integer constant that a double represents exactly. */
  bReal = f==MEM_Real || (bInteger && iConst<=9007199254740991LL && iConst>=-9007199254740991LL);
  bText = f==MEM_Str && affinity<SQLITE_AFF_NUMERIC && (q->pOp->p4.pColl==0 || sqlite3IsBinary(q->pOp->p4.pColl));
  for(j=0; j<nSel; j++){
    u32 i = rpB.aSel[j], t = aType[i], order;
    const u8 *z = apValue[i];
    if( t>=1 && t<=9 && t!=7 && bInteger && !pStep->bReal ){
      i64 v = rpInteger(t, z);
      order = (u32)(1 + (v>iConst) - (v<iConst));
    }else if( t==0 && (q->pOp->p5 & SQLITE_NULLEQ)==0 ){
      order = 3;
    }else if( bText && t>=13 && (t&1) ){
      order = (u32)rpBytesCompare(z, (t-13)/2, (const u8*)pConst->z, (u32)pConst->n);
    }else if( bReal && (t==7 || (pStep->bReal && t>=1 && t<=9)) ){
      double r = t==7 ? rpDouble(z) : (double)rpInteger(t, z);
      order = isnan(r) ? 3 : r<rConst ? 0 : r==rConst ? 1 : 2;
      if( order==3 && (q->pOp->p5 & SQLITE_NULLEQ) ) goto exact;
    }else{
    exact:
      rpLoadSlot(q->p3, pStep->iSlot, i, pStep->bReal);
      rpB.aSel[n] = (u8)i;
      n += !rpCompare(q->pOp, q->p1, q->p3);
      continue;
    }
    rpB.aSel[n] = (u8)i;
    n += (keep>>order) & 1;
  }
  rpB.nSel = n;
}

/* Gets the word of a pattern '%word%' for rpLike(): ASCII without wildcards. Returns its length, or 0 for any other. */
RP_SMALL static int rpLikeWord(Mem *pPattern, u8 *aWord){
  const u8 *zWord = (const u8*)pPattern->z+1;
  int nWord = pPattern->n-2, i;
  if( (pPattern->flags & (MEM_TypeMask&~(MEM_Static|MEM_Term)))!=MEM_Str || nWord<1 || nWord>64 || zWord[-1]!='%' || zWord[nWord]!='%' ) return 0;
  for(i=0; i<nWord; i++){
    if( zWord[i]>=0x80 || zWord[i]=='%' || zWord[i]=='_' || zWord[i]==0 ) return 0;
    aWord[i] = sqlite3UpperToLower[zWord[i]];
  }
  return nWord;
}

/* Whether the text contains the word before any NUL. Searches for the word's rarest letter, eight bytes at once. */
static int rpContains(const u8 *z, u32 n, const u8 *aWord, u32 nWord, u32 iRare, u64 rare){
  const u8 *pEnd = &z[n], *p = z;
  u8 c = aWord[iRare] | 0x20;
  while( p<pEnd ){
    const u8 *pBlock = &p[8];
    if( pBlock<=pEnd ){
      u64 w, x;
      memcpy(&w, p, 8);
      x = (w | RP_ONES*0x20) ^ rare;
      if( (RP_ZEROS(w) | RP_ZEROS(x))==0 ){
        p = pBlock;
        continue;
      }
    }else{
      pBlock = pEnd;
    }
    for(; p<pBlock; p++){
      if( *p==0 ){
        /* A word that ends before the NUL was found already. */
        return 0;
      }
      if( (*p|0x20)==c && (u32)(p-z)>=iRare && (u32)(pEnd-p)>=nWord-iRare ){
        const u8 *a = p-iRare;
        u32 k;
        for(k=0; k<nWord && sqlite3UpperToLower[a[k]]==aWord[k]; k++){}
        if( k==nWord ) return 1;
      }
    }
  }
  return 0;
}

RP_MEDIUM static void rpBatchLike(const RpStep *pStep, const RpInsn *q){
  static const char zByFrequency[] = "etaoinshrdlcumwfgypbvkxjqz";
  u8 aWord[64];
  u32 nWord = (u32)rpLikeWord(q->p1, aWord), iRare = 0, j, n = 0, i;
  int best = -2;
  u64 rare;
  for(i=0; i<nWord; i++){
    const char *z = strchr(zByFrequency, aWord[i]);
    int rank = z ? (int)(z-zByFrequency) : aWord[i]==' ' ? -1 : 20;
    if( rank>best ){
      best = rank;
      iRare = i;
    }
  }
  rare = RP_ONES * (aWord[iRare]|0x20);
  for(j=0; j<rpB.nSel; j++){
    u32 t;
    i = rpB.aSel[j];
    t = rpB.aType[pStep->iSlot][i];
    if( nWord==0 || (t && (t<13 || (t&1)==0)) ) break;
    rpB.aSel[n] = (u8)i;
    /* NULL passes neither LIKE nor NOT LIKE. */
    if( t ) n += rpContains(rpB.apValue[pStep->iSlot][i], (t-13)/2, aWord, nWord, iRare, rare)==pStep->keep;
  }
  if( j<rpB.nSel ) rpB.nRow = rpB.aSel[j];
  rpB.nSel = n;
}

/* ---------------------------------------------------------------- Aggregates */

static SQLITE_NOINLINE void rpSumSlot(SumCtx *p, u32 t, const u8 *z, int bReal){
  double r;
  if( t==0 ) return;
  if( t!=7 && !bReal ){
    rpSumInteger(p, rpInteger(t, z));
    return;
  }
  r = t==7 ? rpDouble(z) : (double)rpInteger(t, z);
  if( isnan(r) ) return;
  p->cnt++;
  if( p->approx ){
    p->ovrfl = 0;
  }else{
    kahanBabuskaNeumaierInit(p, p->iSum);
    p->approx = 1;
  }
  rpKahan(p, r);
}

/* Adds a slot of all rows to a sum(). */
static void rpBatchSum(SumCtx *p, u32 iSlot, int bReal, Mem *pTemp){
  const u32 *aType = rpB.aType[iSlot];
  const u8 **apValue = rpB.apValue[iSlot];
  u32 j, nSel = rpB.nSel;
  for(j=0; j<nSel; j++){
    u32 i = rpB.aSel[j], t = aType[i];
    if( t>=RP_TYPE_ROWID ){
      rpLoadSlot(pTemp, iSlot, i, bReal);
      rpSum(p, pTemp);
    }else if( p->approx ){
      /* Does the same as rpSumSlot(), with the sum in local variables. */
      double s = p->rSum, e = p->rErr;
      i64 cnt = p->cnt;
      int bOverflow = p->ovrfl;
      for(; j<nSel; j++){
        double r, sum;
        i = rpB.aSel[j];
        t = aType[i];
        if( t==0 ) continue;
        if( t>=RP_TYPE_ROWID ) break;
        if( t==7 ){
          r = rpDouble(apValue[i]);
          if( isnan(r) ) continue;
          bOverflow = 0;
        }else{
          i64 v = rpInteger(t, apValue[i]);
          if( !bReal && (v<=-4503599627370496LL || v>=4503599627370496LL) ) break;
          if( bReal ) bOverflow = 0;
          r = (double)v;
        }
        cnt++;
        sum = s + r;
        e += fabs(s)>fabs(r) ? (s - sum) + r : (r - sum) + s;
        s = sum;
      }
      p->rSum = s;
      p->rErr = e;
      p->cnt = cnt;
      p->ovrfl = (u8)bOverflow;
      if( j<nSel && t<RP_TYPE_ROWID ) rpSumSlot(p, t, apValue[i], bReal);
      else if( j<nSel ) j--;
    }else if( bReal || t==7 ){
      rpSumSlot(p, t, apValue[i], bReal);
    }else{
      i64 iSum = p->iSum, cnt = p->cnt;
      if( iSum<LARGEST_INT64/2 && iSum>SMALLEST_INT64/2 ){
        /* The sum of so few integers of at most four bytes cannot overflow. */
        for(; j<nSel && (t = aType[i = rpB.aSel[j]])-1<4; j++, cnt++) iSum += (int)rpSwap32(apValue[i]) >> (32-8*t);
      }
      for(; j<nSel; j++){
        i64 v, sum;
        i = rpB.aSel[j];
        t = aType[i];
        if( t==0 ) continue;
        if( t>9 || t==7 ) break;
        v = rpInteger(t, apValue[i]);
        sum = (i64)((u64)iSum + (u64)v);
        if( ((iSum ^ sum) & (v ^ sum))<0 ) break;
        iSum = sum;
        cnt++;
      }
      p->iSum = iSum;
      p->cnt = cnt;
      if( j<nSel ){
        if( t<=9 ) rpSumSlot(p, t, apValue[i], 0); else j--;
      }
    }
  }
}

static SQLITE_NOINLINE int rpIsNullSlot(u32 iSlot, u32 i){
  u32 t = rpB.aType[iSlot][i];
  return t==0 || (t==7 && isnan(rpDouble(rpB.apValue[iSlot][i])));
}

/* min() and max(): replaces the best number by a better one. Returns 0 if rpBest() must compare the value. */
static SQLITE_INLINE int rpBestNumber(Mem *pBest, u32 t, const u8 *z, int bReal, int bMax){
  if( t>=1 && t<=9 && t!=7 && !bReal && pBest->flags==MEM_Int ){
    i64 v = rpInteger(t, z);
    if( bMax ? v>pBest->u.i : v<pBest->u.i ) pBest->u.i = v;
    return 1;
  }
  if( (t==7 || (bReal && t>=1 && t<=9)) && pBest->flags==MEM_Real ){
    double r = t==7 ? rpDouble(z) : (double)rpInteger(t, z);
    if( bMax ? r>pBest->u.r : r<pBest->u.r ) pBest->u.r = r;
    return 1;
  }
  return t==0;
}

/* ---------------------------------------------------------------- Groups */

/* Whether two texts of n bytes, at least one, are the same. Reads up to seven bytes behind them. */
static SQLITE_INLINE int rpSameText(const u8 *a, const u8 *b, u32 n){
  u64 x, y;
  for(; n>8; n-=8, a+=8, b+=8){
    memcpy(&x, a, 8);
    memcpy(&y, b, 8);
    if( x!=y ) return 0;
  }
  memcpy(&x, a, 8);
  memcpy(&y, b, 8);
  return (x^y)<<(64-8*n)==0;
}

/*
** Finds the groups of the rows from position j of the selection on, as long as they are recent ones. Most are. Returns the
** position of the first row with another group, for which *piRecent is the place.
*/
static SQLITE_NOINLINE u32 rpFindRecent(RpScan *s, const RpRegister *pKey, u32 j, u32 *piRecent){
  const u32 *aType = rpB.aType[pKey->iSlot];
  const u8 **apValue = rpB.apValue[pKey->iSlot];
  RpGroup **apRecent = s->apRecent, *g;
  u32 nSel = rpB.nSel, iRecent = 0, k;
  for(; j<nSel; j++){
    u32 i = rpB.aSel[j], t = aType[i];
    const u8 *z = apValue[i];
    if( t>=1 && t<=9 && t!=7 && !pKey->bReal ){
      i64 v = rpInteger(t, z);
      iRecent = (u32)v;
      for(k=0; k<RP_RECENT_PLACES; k++){
        g = apRecent[(iRecent+k) & (RP_RECENT-1)];
        if( g==0 || (RP_KEYS(g)->u.i==v && RP_KEYS(g)->eType==SQLITE_INTEGER) ) break;
      }
    }else if( t>13 && (t&1) ){
      u32 n = (t-13)/2;
      u64 w;
      memcpy(&w, n>=8 ? &z[n-8] : z, 8);
      if( n<8 ) w <<= 64-8*n;
      iRecent = (u32)(((w+n)*0x9E3779B97F4A7C15ULL)>>52);
      for(k=0; k<RP_RECENT_PLACES; k++){
        g = apRecent[(iRecent+k) & (RP_RECENT-1)];
        if( g==0 || (RP_KEYS(g)->n==n && RP_KEYS(g)->eType==SQLITE_TEXT && rpSameText(RP_KEYS(g)->u.z, z, n)) ) break;
      }
    }else{
      break;
    }
    if( k==RP_RECENT_PLACES ) break;
    if( g==0 ){
      iRecent += k;
      break;
    }
    rpB.apGroup[i] = g;
  }
  *piRecent = iRecent & (RP_RECENT-1);
  return j;
}

/* Finds the groups of the rows. The batch ends before the first row of a new group. */
RP_MEDIUM static void rpBatchGroup(RpScan *s, struct RpBatch *pBatch, const RpStep *pStep){
  RpRegister *aKeyValue = &pBatch->aValue[pStep->iSlot];
  u32 j, k, iRecent = 0;
  int bRecent = s->nKey==1 && aKeyValue->iSlot!=RP_CONSTANT;
  if( s->apRecent==0 ){
    s->apRecent = sqlite3_malloc64(RP_RECENT*sizeof(RpGroup*));
    if( s->apRecent==0 ){
      rpCut(0);
      return;
    }
    memset(s->apRecent, 0, RP_RECENT*sizeof(RpGroup*));
  }
  for(j=0; ; j++){
    u32 i, iHash = 0;
    RpKey aKey[RP_MAX_KEYS];
    RpGroup *g;
    if( bRecent ) j = rpFindRecent(s, aKeyValue, j, &iRecent);
    if( j>=rpB.nSel ) break;
    i = rpB.aSel[j];
    for(k=0; k<s->nKey; k++){
      Mem m;
      m.flags = 0;
      m.szMalloc = 0;
      m.db = s->pVdbe->db;
      if( aKeyValue[k].iSlot==RP_CONSTANT ) m = *aKeyValue[k].pMem; else rpLoadSlot(&m, aKeyValue[k].iSlot, i, aKeyValue[k].bReal);
      if( rpKeyOf(&m, &aKey[k], s->aNoCase[k], s->bSameKeys) ) break;
      iHash = rpHashOfKey(iHash, &aKey[k], s->aNoCase[k]);
    }
    g = k<s->nKey ? 0 : rpLookUp(s, aKey, iHash);
    if( g==0 ) break;
    rpB.apGroup[i] = g;
    if( bRecent ) s->apRecent[iRecent] = g;
  }
  rpCut(j);
}

/* The steps of the aggregates, for the groups that rpBatchGroup() has found. */
static SQLITE_NOINLINE void rpGroupCount(const RpStep *pStep, const RpInsn *q){
  u32 nSel = rpB.nSel, j;
  for(j=0; j<nSel; j++){
    u32 i = rpB.aSel[j];
    if( q->p1==0 || !rpIsNullSlot(pStep->iSlot, i) ) (*(i64*)((u8*)rpB.apGroup[i] + q->iColumn))++;
  }
}
static SQLITE_NOINLINE void rpGroupSum(const RpStep *pStep, const RpInsn *q){
  const u32 *aType = rpB.aType[pStep->iSlot];
  const u8 **apValue = rpB.apValue[pStep->iSlot];
  u32 nSel = rpB.nSel, iState = q->iColumn, j;
  int bReal = pStep->bReal;
  for(j=0; j<nSel; j++){
    u32 i = rpB.aSel[j], t = aType[i];
    SumCtx *p = (SumCtx*)((u8*)rpB.apGroup[i] + iState);
    if( t-1<4 && p->approx==0 && !bReal && p->iSum<=LARGEST_INT64/2 && p->iSum>=SMALLEST_INT64/2 ){
      p->iSum += (int)rpSwap32(apValue[i]) >> (32-8*t);
      p->cnt++;
    }else if( t<=9 ){
      rpSumSlot(p, t, apValue[i], bReal);
    }else{
      rpLoadSlot(q->p1, pStep->iSlot, i, bReal);
      rpSum(p, q->p1);
    }
  }
}
static SQLITE_NOINLINE void rpGroupBest(RpScan *s, const RpStep *pStep, const RpInsn *q){
  const u32 *aType = rpB.aType[pStep->iSlot];
  const u8 **apValue = rpB.apValue[pStep->iSlot];
  u32 nSel = rpB.nSel, iState = q->iColumn, j;
  for(j=0; j<nSel; j++){
    u32 i = rpB.aSel[j];
    Mem *pBest = (Mem*)((u8*)rpB.apGroup[i] + iState);
    if( rpBestNumber(pBest, aType[i], apValue[i], pStep->bReal, q->bMax) ) continue;
    rpLoadSlot(q->p1, pStep->iSlot, i, pStep->bReal);
    if( rpBest(s, pBest, q->p1, q) || s->nBytes>rpGroupBytes ) s->bNoMemory = 1;
  }
}

/* ---------------------------------------------------------------- Rows of the result */

/*
** Stores values of a column of numbers, from position j of the selection to n. Stops before a value that rpAppend() has to
** store. Returns the position of that value, or n.
*/
static SQLITE_NOINLINE u32 rpStoreNumbers(double *aNumber, u32 iSlot, u32 j, u32 n){
  const u32 *aType = rpB.aType[iSlot];
  const u8 **apValue = rpB.apValue[iSlot];
  for(; j<n; j++){
    u32 i = rpB.aSel[j], t = aType[i];
    const u8 *z = apValue[i];
    double x;
    if( t>=1 && t<=9 && t!=6 ){
      x = t==7 ? rpDouble(z) : (double)rpInteger(t, z);
      if( isnan(x) ) break;
    }else if( t==RP_TYPE_ROWID ){
      u64 v;
      sqlite3GetVarint(z, &v);
      if( v>9007199254740991ULL ) break;
      x = (double)(i64)v;
    }else{
      break;
    }
    aNumber[j] = x;
  }
  return j;
}
/* Stores values of a column of text in the same way. */
static SQLITE_NOINLINE u32 rpStoreTexts(RpRows *r, RpColumn *pColumn, u32 *aEnd, u32 iSlot, u32 j, u32 n){
  const u32 *aType = rpB.aType[iSlot];
  const u8 **apValue = rpB.apValue[iSlot];
  u32 nByte = pColumn->nByte, nUnit = pColumn->nUnit;
  for(; j<n; j++){
    u32 i = rpB.aSel[j], t = aType[i], nText = (t-13)/2, k;
    const u8 *z = apValue[i];
    u8 *a;
    u64 w, all = 0;
    if( t<13 || (t&1)==0 || (u64)nByte+nText+8>pColumn->nByteAlloc ) break;
    a = &pColumn->aByte[nByte];
    /* Copies eight bytes at a time. The last eight may include up to seven bytes behind the text, or eight if it is empty. */
    for(k=0; k+8<nText; k+=8){
      memcpy(&w, &z[k], 8);
      memcpy(&a[k], &w, 8);
      all |= w;
    }
    memcpy(&w, &z[k], 8);
    memcpy(&a[k], &w, 8);
    if( nText>0 ) all |= w<<(64-8*(nText-k));
    if( all & RP_HIGH ){
      int nOther = rpUnits(z, nText);
      if( nOther<0 ) break;
      nUnit += (u32)nOther;
    }else{
      nUnit += nText;
    }
    nByte += nText;
    aEnd[j] = nUnit;
  }
  r->nTextBytes += nByte-pColumn->nByte;
  pColumn->nByte = nByte;
  pColumn->nUnit = nUnit;
  return j;
}

RP_MEDIUM static void rpBatchResult(RpScan *s, struct RpBatch *pBatch, const RpStep *pStep, const RpInsn *q){
  RpRows *r = rpTaking.pRows;
  RpRegister *aValue = &pBatch->aValue[pStep->iSlot];
  u32 iFirst, n = rpB.nSel, c, j;
  u64 nBytes;
  if( rpTaking.pVdbe!=s->pVdbe || rpTaking.rc || r->nColumn==0 ){
    rpCut(0);
    return;
  }
  for(c=0; c<r->nColumn; c++){
    if( aValue[c].iSlot==RP_CONSTANT && (aValue[c].pMem->flags & MEM_Zero) ){
      rpCut(0);
      return;
    }
  }
  /* Takes only rows before the row for which rpAppendResult() would stay. */
  n = MIN(n, rpTaking.nMost>1 ? rpTaking.nMost-1 : 0);
  if( q->p2 && q->p2->u.i>=0 ) n = (u32)MIN((i64)n, MAX(q->p2->u.i-1, 0));
  n = MIN(n, r->nRow*r->nColumn>=RP_FULL_CELLS ? 0 : (RP_FULL_CELLS-1)/r->nColumn + 1 - r->nRow);
  nBytes = r->nTextBytes;
  for(j=0; j<n && nBytes<RP_FULL_BYTES; j++) nBytes += rpB.aPayload[rpB.aSel[j]];
  n = j;
  rpCut(n);
  while( r->nRow+n>r->nRowAlloc ) if( (rpTaking.rc = rpGrowRows(r))!=SQLITE_OK ){
    rpCut(0);
    return;
  }
  iFirst = r->nRow;
  for(c=0; c<r->nColumn; c++){
    RpColumn *pColumn = &r->aColumn[c];
    u32 iSlot = aValue[c].iSlot;
    int bReal = aValue[c].bReal;
    Mem *pMem = aValue[c].pMem;
    for(j=0; ; j++){
      if( iSlot!=RP_CONSTANT ){
        if( pColumn->eKind==RP_NUMBER ) j = rpStoreNumbers(&pColumn->aNumber[iFirst], iSlot, j, n);
        else if( pColumn->eKind==RP_TEXT ) j = rpStoreTexts(r, pColumn, &pColumn->aEnd[iFirst], iSlot, j, n);
      }
      if( j>=n ) break;
      if( iSlot!=RP_CONSTANT ) rpLoadSlot(pMem, iSlot, rpB.aSel[j], bReal);
      r->nRow = iFirst+j;
      rpTaking.rc = rpAppend(r, pColumn, pMem, (sqlite3_stmt*)s->pVdbe, (int)c);
      if( rpTaking.rc ){
        /* The statement fails with this error. */
        r->nRow = iFirst;
        rpCut(0);
        return;
      }
    }
  }
  r->nRow = iFirst+n;
  rpTaking.nMost -= n;
  if( q->p2 && q->p2->u.i>SMALLEST_INT64+n ) q->p2->u.i -= n;
}

/* ---------------------------------------------------------------- The batch */

/* Whether the aggregates of the steps from k on have their memory, which SQLite allocates for their first row. */
static int rpHasMemory(RpScan *s, struct RpBatch *pBatch, u32 k){
  if( !s->bStepped ) return 0;
  for(; k<pBatch->nStep; k++){
    if( pBatch->aStep[k].eStep>=RP_B_COUNT && pBatch->aStep[k].eStep<=RP_B_BEST && (s->aInsn[pBatch->aStep[k].iInsn].p3->flags & MEM_Agg)==0 ) return 0;
  }
  return 1;
}
static int rpIsFilterBatch(struct RpBatch *pBatch){
  return pBatch->aStep[pBatch->nStep-1].eStep==RP_B_ROWS;
}
/* Whether the batch only counts rows and reads none. */
static int rpIsCountBatch(struct RpBatch *pBatch){
  return pBatch->bCountAlone;
}
static const u8 *rpBatchRows(void){
  return rpB.aSel;
}
RP_SMALL static void rpForgetRecent(RpScan *s){
  sqlite3_free(s->apRecent);
  s->apRecent = 0;
}

/*
** Executes up to n rows from iCell on. Returns the number of rows before the first row that rpRunRows() must execute.
** *pnSel: the number of earlier rows, in rpB.aSel, that rpRunRows() must also execute, because they passed the filter.
*/
RP_MEDIUM static SQLITE_NOINLINE int rpBatch(RpScan *s, u32 iCell, u32 n, u32 *pnSel){
  struct RpBatch *pBatch = s->pBatch;
  u32 k, j;
  int bReady = 0;
  *pnSel = 0;
  k = pBatch->aStep[0].eStep==RP_B_SKIP;
  if( pBatch->bCountAlone ) rpB.nSel = rpB.nRow = n;
  else rpBatchCells(pBatch, k ? pBatch->aStep : 0, s->pVdbe->apCsr[s->iCursor]->uc.pCursor->pPage, iCell, n, !pBatch->bOneColumn);
  for(; k<pBatch->nStep && rpB.nSel>0; k++){
    const RpStep *pStep = &pBatch->aStep[k];
    const RpInsn *q = &s->aInsn[pStep->iInsn];
    u32 iSlot = pStep->iSlot;
    switch( pStep->eStep ){
      case RP_B_SKIP:
        rpBatchSkip(pBatch, pStep, pStep->nNext);
        k += pStep->nNext;
        break;
      case RP_B_ROWID:
        for(j=0; j<rpB.nSel; j++){
          u32 i = rpB.aSel[j];
          rpB.aType[iSlot][i] = RP_TYPE_ROWID;
          rpB.apValue[iSlot][i] = rpB.apRowid[i];
        }
        break;
      case RP_B_SUBSTR:
        rpBatchSubstr(pStep, q);
        break;
      case RP_B_JSON:
        rpBatchJson(pStep, q);
        break;
      case RP_B_ARITHMETIC:
        rpBatchArithmetic(pStep, q);
        break;
      case RP_B_COMPARE:
        rpBatchCompare(pStep, q);
        break;
      case RP_B_NULL:
        rpBatchNull(pStep);
        break;
      case RP_B_LIKE:
        rpBatchLike(pStep, q);
        break;
      case RP_B_ROWS:
        *pnSel = rpB.nSel;
        break;
      case RP_B_COUNT: case RP_B_SUM: case RP_B_BEST:
        if( !bReady && !rpHasMemory(s, pBatch, k) ){
          /* rpRunRows() executes the first row, and SQLite allocates the memory. */
          if( pBatch->bCountAlone ) memcpy(rpB.aSel, rpFirstRows, RP_BATCH_ROWS);
          rpCut(1);
          *pnSel = 1;
          return (int)rpB.nRow;
        }
        bReady = 1;
        break;
    }
    switch( pStep->eStep ){
      case RP_B_COUNT: {
        i64 nCount = rpB.nSel;
        if( q->p1 ) for(j=0; j<rpB.nSel; j++) nCount -= rpIsNullSlot(iSlot, rpB.aSel[j]);
        q->p3->n += (int)rpB.nSel;
        ((CountCtx*)q->p3->z)->n += nCount;
        break;
      }
      case RP_B_SUM:
        q->p3->n += (int)rpB.nSel;
        rpBatchSum((SumCtx*)q->p3->z, iSlot, pStep->bReal, q->p1);
        break;
      case RP_B_BEST: {
        Mem *pBest = (Mem*)q->p3->z;
        q->p3->n += (int)rpB.nSel;
        for(j=0; j<rpB.nSel; j++){
          u32 i = rpB.aSel[j];
          if( rpBestNumber(pBest, rpB.aType[iSlot][i], rpB.apValue[iSlot][i], pStep->bReal, q->bMax) ) continue;
          rpLoadSlot(q->p1, iSlot, i, pStep->bReal);
          /* If memory runs out, SQLite sets the error of the connection. */
          rpBest(s, pBest, q->p1, q);
        }
        break;
      }
      case RP_B_GROUP:
        rpBatchGroup(s, pBatch, pStep);
        break;
      case RP_B_GROUP_COUNT:
        rpGroupCount(pStep, q);
        break;
      case RP_B_GROUP_SUM:
        rpGroupSum(pStep, q);
        break;
      case RP_B_GROUP_BEST:
        rpGroupBest(s, pStep, q);
        break;
      case RP_B_RESULT:
        rpBatchResult(s, pBatch, pStep, q);
        break;
    }
  }
  return (int)rpB.nRow;
}

/* ---------------------------------------------------------------- Translation */

#ifdef __EMSCRIPTEN__
#pragma clang attribute push(__attribute__((minsize)), apply_to = function)
#endif

/* Whether an instruction of the scan writes the register. */
static int rpIsWritten(RpScan *s, Mem *pMem){
  u32 k;
  for(k=0; k<s->nInsn; k++){
    RpInsn *q = &s->aInsn[k];
    switch( q->eCode ){
      case RP_COLUMN: case RP_ROWID: case RP_COPY: case RP_INTEGER: case RP_SETNULL: case RP_ARITHMETIC: case RP_LOGIC:
      case RP_NOT: case RP_FUNCTION: case RP_LIKE: case RP_GROUP_COLUMN: case RP_LOOKUP_COLUMN: case RP_LOOKUP_ROWID:
        if( q->p3==pMem ) return 1;
        break;
      case RP_REAL: case RP_CAST: case RP_OFFSET:
        if( q->p1==pMem ) return 1;
        break;
      case RP_RESULT:
        if( q->p2==pMem ) return 1;
        break;
    }
  }
  return 0;
}

#define RP_SLOT_ROWID RP_NO_JUMP
#define RP_SLOT_COMPUTED (RP_NO_JUMP-1)
#define RP_ALL_COLUMNS (RP_NO_JUMP-2)

/* The state of rpPlanBatch(). */
typedef struct RpPlan RpPlan;
struct RpPlan {
  RpScan *s;
  struct RpBatch *pBatch;
  u32 nRegister;
  RpRegister aRegister[RP_BATCH_SLOTS*3];
  u8 aRead[RP_BATCH_SLOTS*3];
  u32 aColumn[RP_BATCH_SLOTS];  /* The column of each slot, or one of: */
  u8 aDone[RP_BATCH_SLOTS], aDefault[RP_BATCH_SLOTS];
  u32 iPosition;
  u8 bEffect;               /* A step has an effect, so no later step may end the batch */
};

static RpStep *rpAddStep(RpPlan *b, u8 eStep, u32 iInsn){
  RpStep *pStep;
  if( b->pBatch->nStep>=RP_BATCH_STEPS ) return 0;
  pStep = &b->pBatch->aStep[b->pBatch->nStep++];
  memset(pStep, 0, sizeof(*pStep));
  pStep->eStep = eStep;
  pStep->iInsn = iInsn;
  return pStep;
}

/* The slot whose value a register holds, or 0 if it holds no slot's value. */
static RpRegister *rpValueOf(RpPlan *b, Mem *pMem){
  u32 k;
  for(k=b->nRegister; k-->0; ){
    if( b->aRegister[k].pMem==pMem ){
      b->aRead[k] = 1;
      return &b->aRegister[k];
    }
  }
  return 0;
}
static int rpSetRegister(RpPlan *b, Mem *pMem, u32 iSlot, int bReal){
  if( b->nRegister>=RP_BATCH_SLOTS*3 ) return 0;
  b->aRegister[b->nRegister].pMem = pMem;
  b->aRegister[b->nRegister].iSlot = (u8)iSlot;
  b->aRegister[b->nRegister].bReal = (u8)bReal;
  b->aRead[b->nRegister++] = 0;
  return 1;
}

/* Adds the steps that read the columns up to iColumn. */
static int rpReadColumns(RpPlan *b, u32 iColumn, u32 iInsn){
  for(;;){
    u32 k, iBest = RP_NO_JUMP;
    RpStep *pStep;
    for(k=0; k<b->pBatch->nSlot; k++){
      if( !b->aDone[k] && b->aColumn[k]<=iColumn && (iBest==RP_NO_JUMP || b->aColumn[k]<b->aColumn[iBest]) ) iBest = k;
    }
    if( iBest==RP_NO_JUMP ) return 1;
    pStep = rpAddStep(b, RP_B_SKIP, iInsn);
    if( pStep==0 ) return 0;
    pStep->iSlot = (u8)iBest;
    pStep->iSkip = b->aColumn[iBest] - b->iPosition;
    pStep->bDefault = b->aDefault[iBest];
    pStep->iSkipped = pStep->iSkip && b->pBatch->nSkipped<RP_BATCH_SKIPPED ? (u8)b->pBatch->nSkipped++ : RP_BATCH_SKIPPED;
    b->iPosition = b->aColumn[iBest]+1;
    b->aDone[iBest] = 1;
  }
}

/* Adds the values of n registers from pMem on, for RP_B_GROUP and RP_B_RESULT. */
static int rpAddValues(RpPlan *b, Mem *pMem, u32 n){
  u32 k;
  for(k=0; k<n; k++){
    RpRegister *v = rpValueOf(b, &pMem[k]), *pNew;
    if( b->pBatch->nValue>=RP_BATCH_SLOTS*2 || (v==0 && rpIsWritten(b->s, &pMem[k])) ) return 0;
    pNew = &b->pBatch->aValue[b->pBatch->nValue++];
    pNew->pMem = &pMem[k];
    pNew->iSlot = v ? v->iSlot : RP_CONSTANT;
    pNew->bReal = v ? v->bReal : 0;
  }
  return 1;
}

/* Plans the instruction at index k. Returns how many are planned, or 0 if a batch cannot execute this instruction. */
static int rpPlanOne(RpPlan *b, u32 k){
  RpScan *s = b->s;
  RpInsn *q = &s->aInsn[k];
  RpRegister *v;
  RpStep *pStep;
  u32 iDone = s->nInsn-2, i;
  if( q->bCarried ) return 0;
  if( b->bEffect && (q->eCode==RP_COMPARE || q->eCode==RP_ISNULL || q->eCode==RP_NOTNULL || q->eCode==RP_LIKE || q->eCode==RP_FUNCTION || q->eCode==RP_ARITHMETIC) ) return 0;
  switch( q->eCode ){
    case RP_COLUMN:
      for(i=0; i<b->pBatch->nSlot && b->aColumn[i]!=q->iColumn; i++){}
      return i<b->pBatch->nSlot && rpReadColumns(b, q->iColumn, k) && rpSetRegister(b, q->p3, i, 0);
    case RP_ROWID:
      if( b->pBatch->nSlot>=RP_BATCH_SLOTS || (pStep = rpAddStep(b, RP_B_ROWID, k))==0 ) return 0;
      b->aColumn[b->pBatch->nSlot] = RP_SLOT_ROWID;
      pStep->iSlot = (u8)b->pBatch->nSlot++;
      return rpSetRegister(b, q->p3, pStep->iSlot, 0);
    case RP_REAL:
      v = rpValueOf(b, q->p1);
      return v && rpSetRegister(b, q->p1, v->iSlot, 1);
    case RP_GROUP_COLUMN:
      v = rpValueOf(b, q->p1);
      return v && rpSetRegister(b, q->p3, v->iSlot, v->bReal);
    case RP_GATE:
      return rpReadColumns(b, RP_ALL_COLUMNS, k);
    case RP_COMPARE: {
      u8 op = q->pOp->opcode;
      v = rpValueOf(b, q->p3);
      if( v==0 || q->iJump!=iDone || q->p1==q->p3 || rpIsWritten(s, q->p1) ) return 0;
      /* A batch cannot compare a rowid. */
      if( b->aColumn[v->iSlot]==RP_SLOT_ROWID || (pStep = rpAddStep(b, RP_B_COMPARE, k))==0 ) return 0;
      pStep->iSlot = v->iSlot;
      pStep->bReal = v->bReal;
      pStep->keep = (u8)(!sqlite3aLTb[op] | !sqlite3aEQb[op]<<1 | !sqlite3aGTb[op]<<2 | ((q->pOp->p5 & SQLITE_JUMPIFNULL)==0)<<3);
      return 1;
    }
    case RP_ISNULL: case RP_NOTNULL:
      v = rpValueOf(b, q->p1);
      if( v==0 || q->iJump!=iDone || b->aColumn[v->iSlot]==RP_SLOT_ROWID || (pStep = rpAddStep(b, RP_B_NULL, k))==0 ) return 0;
      pStep->iSlot = v->iSlot;
      pStep->keep = q->eCode==RP_NOTNULL;
      return 1;
    case RP_LIKE:
      v = rpValueOf(b, &q->p1[1]);
      if( v==0 || rpIsWritten(s, q->p1) || b->aColumn[v->iSlot]==RP_SLOT_ROWID || v->bReal || k+1>=iDone ) return 0;
      if( (q[1].eCode!=RP_IF && q[1].eCode!=RP_IFNOT) || q[1].p1!=q->p3 || q[1].iJump!=iDone || q[1].pOp->p3==0 ) return 0;
      pStep = rpAddStep(b, RP_B_LIKE, k);
      if( pStep==0 ) return 0;
      pStep->iSlot = v->iSlot;
      pStep->keep = q[1].eCode==RP_IFNOT;
      return 2;
    case RP_FUNCTION: {
      sqlite3_context *pCtx = q->pOp->p4.pCtx;
      u8 eStep = pCtx->pFunc->xSFunc==substrFunc && pCtx->argc==3 ? RP_B_SUBSTR : pCtx->pFunc->xSFunc==jsonExtractFunc && pCtx->argc==2 ? RP_B_JSON : 0;
      if( eStep==0 ) return 0;
      if( eStep==RP_B_JSON && ((SQLITE_PTR_TO_INT(pCtx->pFunc->pUserData) & ~JSON_SQL) || b->pBatch->nNumbers>=RP_BATCH_NUMBERS) ) return 0;
      v = rpValueOf(b, q->p1);
      if( v==0 || v->bReal || b->aColumn[v->iSlot]==RP_SLOT_ROWID || b->pBatch->nSlot>=RP_BATCH_SLOTS ) return 0;
      for(i=1; i<pCtx->argc; i++) if( rpIsWritten(s, &q->p1[i]) ) return 0;
      pStep = rpAddStep(b, eStep, k);
      if( pStep==0 ) return 0;
      pStep->iSlot = v->iSlot;
      if( eStep==RP_B_JSON ) pStep->iNumbers = (u8)b->pBatch->nNumbers++;
      b->aColumn[b->pBatch->nSlot] = RP_SLOT_COMPUTED;
      pStep->iOut = (u8)b->pBatch->nSlot++;
      return rpSetRegister(b, q->p3, pStep->iOut, 0);
    }
    case RP_ARITHMETIC: {
      RpRegister *pOther = rpValueOf(b, q->p2);
      v = rpValueOf(b, q->p1);
      if( q->pOp->opcode!=OP_Add && q->pOp->opcode!=OP_Subtract && q->pOp->opcode!=OP_Multiply ) return 0;
      if( (v ? b->aColumn[v->iSlot]==RP_SLOT_ROWID : rpIsWritten(s, q->p1)) || (pOther ? b->aColumn[pOther->iSlot]==RP_SLOT_ROWID : rpIsWritten(s, q->p2)) ) return 0;
      if( b->pBatch->nSlot>=RP_BATCH_SLOTS || b->pBatch->nNumbers>=RP_BATCH_NUMBERS || (pStep = rpAddStep(b, RP_B_ARITHMETIC, k))==0 ) return 0;
      pStep->iSlot = v ? v->iSlot : RP_CONSTANT;
      pStep->bReal = v ? v->bReal : 0;
      pStep->iOther = pOther ? pOther->iSlot : RP_CONSTANT;
      pStep->bOtherReal = pOther ? pOther->bReal : 0;
      pStep->iNumbers = (u8)b->pBatch->nNumbers++;
      b->aColumn[b->pBatch->nSlot] = RP_SLOT_COMPUTED;
      pStep->iOut = (u8)b->pBatch->nSlot++;
      return rpSetRegister(b, q->p3, pStep->iOut, 0);
    }
    case RP_COUNT: case RP_SUM: case RP_GROUP_COUNT: case RP_GROUP_SUM: case RP_GROUP_BEST: case RP_STEP: {
      u8 eStep = q->eCode==RP_COUNT ? RP_B_COUNT : q->eCode==RP_SUM ? RP_B_SUM : q->eCode==RP_STEP ? RP_B_BEST
        : q->eCode==RP_GROUP_COUNT ? RP_B_GROUP_COUNT : q->eCode==RP_GROUP_SUM ? RP_B_GROUP_SUM : RP_B_GROUP_BEST;
      FuncDef *pFunc = q->pOp->opcode==OP_AggStep1 ? q->pOp->p4.pCtx->pFunc : q->pOp->p4.pFunc;
      if( eStep==RP_B_BEST && (pFunc->xSFunc!=minmaxStep || q->pOp[-1].opcode!=OP_CollSeq) ) return 0;
      v = q->p1 ? rpValueOf(b, q->p1) : 0;
      if( (q->p1 && v==0) || (pStep = rpAddStep(b, eStep, k))==0 ) return 0;
      pStep->iSlot = v ? v->iSlot : 0;
      pStep->bReal = v ? v->bReal : 0;
      if( eStep<RP_B_GROUP ) b->bEffect = 1;
      return 1;
    }
    case RP_GROUP:
      pStep = rpAddStep(b, RP_B_GROUP, k);
      if( pStep==0 ) return 0;
      pStep->iSlot = (u8)b->pBatch->nValue;
      b->bEffect = 1;
      return rpAddValues(b, q->p1, s->nKey);
    case RP_RESULT:
      pStep = rpAddStep(b, RP_B_RESULT, k);
      if( pStep==0 || !rpReadColumns(b, RP_ALL_COLUMNS, k) ) return 0;
      pStep->iSlot = (u8)b->pBatch->nValue;
      return rpAddValues(b, q->p1, (u32)q->pOp->p2);
    default:
      return 0;
  }
}

/* Plans the batches of a translated loop, if a batch can execute the whole loop or its filter. */
static void rpPlanBatch(RpScan *s){
  RpPlan b;
  u32 k, n, iFilter = 0, nFilterStep = 0, iDone = s->nInsn-2;
  int bPlain = 1;
  memset(&b, 0, sizeof(b));
  b.s = s;
  b.pBatch = sqlite3_malloc64(sizeof(struct RpBatch));
  if( b.pBatch==0 ) return;
  memset(b.pBatch, 0, sizeof(struct RpBatch));
  /* The first slots are those of the columns. */
  for(k=0; k<iDone; k++){
    RpInsn *q = &s->aInsn[k];
    u32 i;
    if( q->eCode!=RP_COLUMN ) continue;
    for(i=0; i<b.pBatch->nSlot && b.aColumn[i]!=q->iColumn; i++){}
    if( i==b.pBatch->nSlot ){
      if( i>=RP_BATCH_SLOTS-2 ) break;
      b.aColumn[b.pBatch->nSlot++] = q->iColumn;
    }
    b.aDefault[i] |= q->pOp->p4type==P4_MEM;
  }
  for(k=0; k<iDone; k+=n){
    u8 e = s->aInsn[k].eCode;
    n = (u32)rpPlanOne(&b, k);
    if( n==0 ) break;
    if( e==RP_COMPARE || e==RP_ISNULL || e==RP_NOTNULL || e==RP_LIKE ){
      iFilter = k+n;
      nFilterStep = b.pBatch->nStep;
    }
  }
  /* Code after the loop may read a register that the batch does not. GROUP BY reads the sorter's record instead. */
  if( k>=iDone && s->iSorter<0 ) for(n=0; n<b.nRegister; n++) bPlain &= b.aRead[n];
  if( k<iDone || !bPlain || k==0 ){
    RpStep *pStep;
    if( iFilter==0 ){
      sqlite3_free(b.pBatch);
      return;
    }
    b.pBatch->nStep = nFilterStep;
    pStep = rpAddStep(&b, RP_B_ROWS, iFilter);
    if( pStep==0 ){
      sqlite3_free(b.pBatch);
      return;
    }
  }
  for(k=1, n=b.pBatch->aStep[0].eStep==RP_B_SKIP; k<b.pBatch->nStep; k++){
    u8 e = b.pBatch->aStep[k].eStep;
    if( e==RP_B_SKIP || e==RP_B_ROWID || e==RP_B_RESULT ) n = 0;
  }
  b.pBatch->bOneColumn = (u8)n;
  for(k=b.pBatch->nStep-1; k-->0; ){
    RpStep *pStep = &b.pBatch->aStep[k];
    if( pStep->eStep==RP_B_SKIP && pStep[1].eStep==RP_B_SKIP && pStep[1].iSkip==0 ) pStep->nNext = pStep[1].nNext+1;
  }
  b.pBatch->bCountAlone = 1;
  for(k=0; k<b.pBatch->nStep; k++) if( b.pBatch->aStep[k].eStep!=RP_B_COUNT || s->aInsn[b.pBatch->aStep[k].iInsn].p1 ) b.pBatch->bCountAlone = 0;
  for(k=0; k<RP_BATCH_SKIPPED*16; k++) b.pBatch->aSkipped[k/16][k%16].types = 1;
  for(k=0; k<256; k++) rpTypeSize[k] = k<128 && k!=10 && k!=11 ? sqlite3SmallTypeSizes[k] : 255;
  for(k=0; k<RP_BATCH_ROWS; k++) rpFirstRows[k] = (u8)k;
  s->pBatch = b.pBatch;
}

#ifdef __EMSCRIPTEN__
#pragma clang attribute pop
#endif
