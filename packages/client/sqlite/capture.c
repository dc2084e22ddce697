/*
** Capture: records which rows of the synced tables a transaction changes, and their values before and after it.
**
** The build appends this file to the amalgamation, because it uses internals of SQLite: a cursor of the B-tree, and the
** record format. The result has the format of SQLite's session changesets, which `session-changeset.ts` reads.
**
** SQLite calls the preupdate hook before each change, but not for a rollback. So the hook only stores a row's rowid
** and a copy of its record when the transaction first touches the row. rockpool_capture_take() then compares the copies
** with the current rows. After a rollback to a savepoint or a failed statement, the two are equal. If REPLACE moved a
** row to another rowid, capture finds the row by its primary key.
**
** The session extension finds rows with statements that it prepares for each changeset. For one row, a seek by rowid
** costs a twelfth of that.
**
** Limits: tables with rowid, in the database `main`, encoded as UTF-8. A write to any other table gives SQLITE_MISUSE.
*/

/* A value of a record. `z` points into the record or, for a default, into RpShape. */
typedef struct RpValue RpValue;
struct RpValue {
  u8 eType;                 /* SQLITE_INTEGER ... SQLITE_NULL */
  u32 n;                    /* Bytes of text or blob */
  union { i64 i; double r; const u8 *z; } u;
};

/* A row that the transaction touched. */
typedef struct RpEntry RpEntry;
struct RpEntry {
  i64 iRowid;
  u8 *aOld;                 /* Its record before the transaction, or 0 if the row did not exist */
  u32 nOld;
};

/* The layout of a table. It has the columns that a session reports: all columns except generated ones. */
typedef struct RpShape RpShape;
struct RpShape {
  Table *pTab;              /* The table with this layout... */
  int iCookie, iGeneration; /* ...in this version of the schema */
  u32 iHash;                /* The hash of the column names */
  int nCol, nStore, nPk;
  int iPk;                  /* The column that is the rowid, or -1 */
  i16 *aiCol;               /* For each of the nStore fields of a record: its column, or -1 */
  u8 *abPk;                 /* For each column: whether it is in the primary key */
  u8 *abReal;               /* For each column: whether integers in the record are reals */
  u8 *abJson;               /* For each column: whether JSONB in the record is text (json-storage.c) */
  i16 *aiPk;                /* The columns of the primary key, in its order */
  CollSeq **apColl;         /* Their collations */
  sqlite3_value **apDflt;   /* For each column: its value in a record that lacks the field, or 0 */
};

typedef struct RpTable RpTable;
struct RpTable {
  char *zName;
  RpShape shape;
  RpEntry *aEntry;          /* In the order of the first touches */
  u32 nEntry, nAlloc;
  u32 nOld;                 /* Entries with aOld */
  u32 *aSlot;               /* Hash of rowids: 1 + index into aEntry. 0 while rowids ascend */
  u32 nSlot;                /* A power of two */
};

typedef struct RpChunk RpChunk;
struct RpChunk { RpChunk *pNext; u32 nUsed, nAlloc; };

typedef struct RpCapture RpCapture;
struct RpCapture {
  sqlite3 *db;
  RpTable **apTable;
  int nTable;
  RpTable *pLast;           /* The table of the last change */
  RpChunk *pChunk;          /* The memory of one transaction */
  int rc;                   /* The first error of the hook */
  u8 *aOut;
  u32 nOut, nOutAlloc;
};

#define RP_EXPORT __attribute__((used, visibility("default")))
/* RP_SMALL: functions that rarely run, compiled as with -Oz. RP_MEDIUM: functions that speed helps little, as with -Os. */
#ifdef __EMSCRIPTEN__
#define RP_SMALL __attribute__((minsize))
#define RP_MEDIUM __attribute__((cold))
#else
#define RP_SMALL
#define RP_MEDIUM
#endif
#define RP_CHUNK 65536
/* Bytes after a copied record, so that a varint that begins inside it never ends outside of the copy. */
#define RP_PADDING 16
#define RP_MAX_BYTES 0x7fff0000

/* Allocates memory that lives until the next transaction. Returns 0 if memory runs out. */
static void *rpAlloc(RpCapture *p, u32 nByte){
  RpChunk *pChunk = p->pChunk;
  void *pRet;
  if( nByte>RP_MAX_BYTES ) return 0;
  nByte = (nByte + 7) & ~(u32)7;
  if( pChunk==0 || pChunk->nAlloc - pChunk->nUsed < nByte ){
    u32 nAlloc = nByte>RP_CHUNK ? nByte : RP_CHUNK;
    pChunk = sqlite3_malloc64(sizeof(RpChunk) + 8 + (u64)nAlloc);
    if( pChunk==0 ) return 0;
    pChunk->pNext = p->pChunk;
    pChunk->nUsed = 0;
    pChunk->nAlloc = nAlloc;
    p->pChunk = pChunk;
  }
  pRet = (u8*)ROUND8((uptr)(pChunk+1)) + pChunk->nUsed;
  pChunk->nUsed += nByte;
  return pRet;
}

/* Frees what was allocated since pChunk was the chunk in use and had nUsed bytes. */
static void rpReleaseTo(RpCapture *p, RpChunk *pChunk, u32 nUsed){
  RpChunk *pTop = p->pChunk;
  if( pTop==pChunk ){
    pTop->nUsed = nUsed;
  }else if( pTop->nAlloc>RP_CHUNK ){
    p->pChunk = pTop->pNext;
    sqlite3_free(pTop);
  }else{
    pTop->nUsed = 0;
  }
}

/* Frees the memory of a transaction. Unless bAll is set, keeps one chunk of the usual size. */
RP_SMALL static void rpFreeChunks(RpCapture *p, int bAll){
  RpChunk *pKept = 0, *pChunk, *pNext;
  for(pChunk=p->pChunk; pChunk; pChunk=pNext){
    pNext = pChunk->pNext;
    if( !bAll && pKept==0 && pChunk->nAlloc==RP_CHUNK ){
      pKept = pChunk;
      pKept->pNext = 0;
      pKept->nUsed = 0;
    }else{
      sqlite3_free(pChunk);
    }
  }
  p->pChunk = pKept;
}

RP_SMALL static void rpFreeShape(RpShape *p){
  int i;
  if( p->apDflt ) for(i=0; i<p->nCol; i++) sqlite3ValueFree(p->apDflt[i]);
  sqlite3_free(p->apDflt);  /* One allocation holds all arrays: see rpShape() */
  memset(p, 0, sizeof(*p));
}

static u32 rpHashText(u32 h, const u8 *z, u32 n, int bFold){
  u32 i;
  for(i=0; i<n; i++) h = (h ^ (bFold ? sqlite3UpperToLower[z[i]] : z[i])) * 16777619u;
  return h;
}

/*
** Reads the layout of pTab if t has none for this version of the schema. The entries of this transaction have the old
** layout, so the function returns SQLITE_SCHEMA if the layout changed after the transaction touched the table.
*/
RP_SMALL static int rpShape(RpCapture *p, RpTable *t, Table *pTab){
  sqlite3 *db = p->db;
  RpShape *s = &t->shape, fresh;
  Schema *pSchema = pTab->pSchema;
  Index *pPk;
  int i, nPk = 0, rc = SQLITE_OK;
  u8 *a;
  u64 nByte;
  if( s->pTab==pTab && s->iCookie==pSchema->schema_cookie && s->iGeneration==pSchema->iGeneration ) return SQLITE_OK;
  if( !HasRowid(pTab) || !IsOrdinaryTable(pTab) || ENC(db)!=SQLITE_UTF8 ) return SQLITE_MISUSE_BKPT;
  memset(&fresh, 0, sizeof(fresh));
  fresh.pTab = pTab;
  fresh.iCookie = pSchema->schema_cookie;
  fresh.iGeneration = pSchema->iGeneration;
  fresh.iPk = -1;
  fresh.nStore = pTab->nNVCol;
  for(i=0; i<pTab->nCol; i++){
    if( (pTab->aCol[i].colFlags & COLFLAG_GENERATED)==0 ) fresh.nCol++;
  }
  pPk = sqlite3PrimaryKeyIndex(pTab);
  fresh.nPk = pPk ? pPk->nKeyCol : pTab->iPKey>=0;
  nByte = fresh.nCol*(u64)(sizeof(sqlite3_value*) + 3) + fresh.nPk*(u64)(sizeof(CollSeq*) + 2) + fresh.nStore*(u64)2;
  a = sqlite3_malloc64(nByte + 8);
  if( a==0 ) return SQLITE_NOMEM;
  memset(a, 0, nByte + 8);
  fresh.apDflt = (sqlite3_value**)a;  a += fresh.nCol*sizeof(sqlite3_value*);
  fresh.apColl = (CollSeq**)a;        a += fresh.nPk*sizeof(CollSeq*);
  fresh.aiCol = (i16*)a;              a += fresh.nStore*2;
  fresh.aiPk = (i16*)a;               a += fresh.nPk*2;
  fresh.abPk = a;                     a += fresh.nCol;
  fresh.abReal = a;                   a += fresh.nCol;
  fresh.abJson = a;
  for(i=0; i<fresh.nStore; i++) fresh.aiCol[i] = -1;
  fresh.nCol = 0;
  for(i=0; i<pTab->nCol && rc==SQLITE_OK; i++){
    Column *pCol = &pTab->aCol[i];
    int iCol;
    if( pCol->colFlags & COLFLAG_GENERATED ) continue;
    iCol = fresh.nCol++;
    fresh.aiCol[sqlite3TableColumnToStorage(pTab, i)] = (i16)iCol;
    fresh.abPk[iCol] = (pCol->colFlags & COLFLAG_PRIMKEY)!=0;
    fresh.abReal[iCol] = pCol->affinity==SQLITE_AFF_REAL;
    fresh.abJson[iCol] = (pCol->colFlags & COLFLAG_JSON)!=0;
    fresh.iHash = rpHashText(fresh.iHash, (const u8*)pCol->zCnName, sqlite3Strlen30(pCol->zCnName), 0) * 31;
    if( i==pTab->iPKey ) fresh.iPk = iCol;
    if( pCol->iDflt>0 ){
      Expr *pDflt = pTab->u.tab.pDfltList->a[pCol->iDflt-1].pExpr;
      rc = sqlite3ValueFromExpr(db, pDflt, ENC(db), pCol->affinity, &fresh.apDflt[iCol]);
    }
    if( pPk==0 && i==pTab->iPKey ) fresh.aiPk[nPk++] = (i16)iCol;
  }
  for(i=0; pPk && i<pPk->nKeyCol && rc==SQLITE_OK; i++){
    int iStore = sqlite3TableColumnToStorage(pTab, pPk->aiColumn[i]);
    fresh.aiPk[i] = fresh.aiCol[iStore];
    if( fresh.aiPk[i]<0 ) rc = SQLITE_MISUSE_BKPT;
    fresh.apColl[i] = sqlite3FindCollSeq(db, ENC(db), pPk->azColl[i], 0);
    if( fresh.apColl[i]==0 || fresh.apColl[i]->xCmp==0 ) rc = SQLITE_MISUSE_BKPT;
  }
  if( rc==SQLITE_OK && t->nEntry>0 && (fresh.iHash!=s->iHash || fresh.nCol!=s->nCol || fresh.nStore!=s->nStore) ){
    rc = SQLITE_SCHEMA;
  }
  if( rc!=SQLITE_OK ){
    rpFreeShape(&fresh);
    return rc;
  }
  rpFreeShape(s);
  *s = fresh;
  return SQLITE_OK;
}

/* Adds entry i to the hash of rowids. */
static void rpHashEntry(RpTable *t, u32 i){
  u32 mask = t->nSlot - 1;
  u32 h = ((u32)t->aEntry[i].iRowid * 0x9E3779B1u) >> 7;
  while( t->aSlot[h & mask] ) h++;
  t->aSlot[h & mask] = i + 1;
}

static int rpRehash(RpTable *t){
  u32 i, n = 64;
  u32 *aSlot;
  while( n < t->nEntry*4 ) n *= 2;
  aSlot = sqlite3_malloc64(n*sizeof(u32));
  if( aSlot==0 ) return SQLITE_NOMEM;
  memset(aSlot, 0, n*sizeof(u32));
  sqlite3_free(t->aSlot);
  t->aSlot = aSlot;
  t->nSlot = n;
  for(i=0; i<t->nEntry; i++) rpHashEntry(t, i);
  return SQLITE_OK;
}

/*
** Adds an entry for a row at its first touch. pCsr points to its record, or is 0 if the row did not exist before the
** transaction. Rows that are touched in the order of their rowids, as in a long import, need no hash.
*/
static int rpTouch(RpCapture *p, RpTable *t, i64 iRowid, BtCursor *pCsr){
  RpEntry *pEntry;
  int rc;
  if( t->nEntry>0 ){
    i64 iLast = t->aEntry[t->nEntry-1].iRowid;
    if( iRowid==iLast ) return SQLITE_OK;
    if( t->nSlot>0 || iRowid<iLast ){
      u32 h = ((u32)iRowid * 0x9E3779B1u) >> 7;
      if( t->nSlot < t->nEntry*2 && (rc = rpRehash(t))!=SQLITE_OK ) return rc;
      for(; t->aSlot[h & (t->nSlot-1)]; h++){
        if( t->aEntry[t->aSlot[h & (t->nSlot-1)] - 1].iRowid==iRowid ) return SQLITE_OK;
      }
    }
  }
  if( t->nEntry>=t->nAlloc ){
    u32 nAlloc = t->nAlloc ? t->nAlloc*2 : 32;
    RpEntry *aEntry = nAlloc*(u64)sizeof(RpEntry)>RP_MAX_BYTES ? 0 : sqlite3_realloc64(t->aEntry, nAlloc*(u64)sizeof(RpEntry));
    if( aEntry==0 ) return SQLITE_NOMEM;
    t->aEntry = aEntry;
    t->nAlloc = nAlloc;
  }
  pEntry = &t->aEntry[t->nEntry];
  pEntry->iRowid = iRowid;
  pEntry->aOld = 0;
  pEntry->nOld = 0;
  if( pCsr ){
    u32 n = sqlite3BtreePayloadSize(pCsr);
    u8 *a = n>RP_MAX_BYTES-RP_PADDING ? 0 : rpAlloc(p, n + RP_PADDING);
    if( a==0 ) return SQLITE_NOMEM;
    rc = sqlite3BtreePayload(pCsr, 0, n, a);
    if( rc!=SQLITE_OK ) return rc;
    memset(&a[n], 0, RP_PADDING);
    pEntry->aOld = a;
    pEntry->nOld = n;
    t->nOld++;
  }
  t->nEntry++;
  if( t->nSlot>0 ) rpHashEntry(t, t->nEntry-1);
  return SQLITE_OK;
}

static RpTable *rpFindTable(RpCapture *p, const char *zName){
  int i;
  for(i=0; i<p->nTable; i++) if( sqlite3StrICmp(p->apTable[i]->zName, zName)==0 ) return p->apTable[i];
  return 0;
}

/* The preupdate hook. */
static void rpOnChange(void *pArg, sqlite3 *db, int op, const char *zDb, const char *zTab, i64 iKey1, i64 iKey2){
  RpCapture *p = (RpCapture*)pArg;
  PreUpdate *pChange = db->pPreUpdate;
  RpTable *t = p->pLast;
  int rc;
  if( p->rc!=SQLITE_OK || zDb!=db->aDb[0].zDbSName ) return;
  /* Compares names, because a table of an older schema may have had the same address. */
  if( t==0 || sqlite3StrICmp(t->zName, zTab)!=0 ){
    t = rpFindTable(p, zTab);
    if( t==0 ) return;
    p->pLast = t;
  }
  rc = rpShape(p, t, pChange->pTab);
  if( rc==SQLITE_OK ) rc = rpTouch(p, t, iKey1, op==SQLITE_INSERT ? 0 : pChange->pCsr->uc.pCursor);
  if( rc==SQLITE_OK && iKey2!=iKey1 ) rc = rpTouch(p, t, iKey2, 0);
  p->rc = rc;
}

/*
** Decodes a record of n bytes, followed by RP_PADDING bytes, into s->nCol values. Even if the record is corrupt, the
** function reads no byte outside of it and the padding.
*/
static int rpDecode(const RpShape *s, const u8 *a, u32 n, i64 iRowid, RpValue *aVal){
  u32 nHdr, iHdr, iData, eSerial;
  int i;
  if( n==0 ) return SQLITE_CORRUPT_BKPT;
  iHdr = getVarint32(a, nHdr);
  if( nHdr>n || iHdr>nHdr ) return SQLITE_CORRUPT_BKPT;
  iData = nHdr;
  for(i=0; i<s->nStore; i++){
    int iCol = s->aiCol[i];
    RpValue *pVal, scratch;
    pVal = iCol<0 ? &scratch : &aVal[iCol];
    if( iHdr>=nHdr ){
      /* The column was added after the record was written. */
      sqlite3_value *pDflt = iCol<0 ? 0 : s->apDflt[iCol];
      pVal->eType = SQLITE_NULL;
      if( pDflt ){
        pVal->eType = (u8)sqlite3_value_type(pDflt);
        switch( pVal->eType ){
          case SQLITE_INTEGER: pVal->u.i = sqlite3_value_int64(pDflt); break;
          case SQLITE_FLOAT: pVal->u.r = sqlite3_value_double(pDflt); break;
          case SQLITE_TEXT: case SQLITE_BLOB:
            pVal->u.z = sqlite3_value_blob(pDflt);
            pVal->n = (u32)sqlite3_value_bytes(pDflt);
            break;
        }
      }
    }else{
      u32 nData;
      iHdr += getVarint32(&a[iHdr], eSerial);
      if( iHdr>nHdr ) return SQLITE_CORRUPT_BKPT;
      nData = sqlite3VdbeSerialTypeLen(eSerial);
      if( nData>n-iData ) return SQLITE_CORRUPT_BKPT;
      if( eSerial>=12 ){
        pVal->eType = (eSerial & 1) ? SQLITE_TEXT : SQLITE_BLOB;
        pVal->n = nData;
        pVal->u.z = &a[iData];
      }else if( eSerial==0 || eSerial==10 || eSerial==11 ){
        pVal->eType = SQLITE_NULL;
      }else{
        Mem mem;
        sqlite3VdbeSerialGet(&a[iData], eSerial, &mem);
        /* SQLite reads a stored NaN as NULL. */
        pVal->eType = (mem.flags & MEM_Int) ? SQLITE_INTEGER : (mem.flags & MEM_Real) ? SQLITE_FLOAT : SQLITE_NULL;
        if( mem.flags & MEM_Int ) pVal->u.i = mem.u.i; else pVal->u.r = mem.u.r;
      }
      iData += nData;
    }
    if( iCol==s->iPk && iCol>=0 ){
      pVal->eType = SQLITE_INTEGER;
      pVal->u.i = iRowid;
    }else if( iCol>=0 && s->abReal[iCol] && pVal->eType==SQLITE_INTEGER ){
      pVal->eType = SQLITE_FLOAT;
      pVal->u.r = (double)pVal->u.i;
    }
  }
  return SQLITE_OK;
}

/* Whether two values have the same type and bytes. */
static int rpSame(const RpValue *a, const RpValue *b){
  if( a->eType!=b->eType ) return 0;
  switch( a->eType ){
    case SQLITE_INTEGER: return a->u.i==b->u.i;
    case SQLITE_FLOAT: return memcmp(&a->u.r, &b->u.r, 8)==0;
    case SQLITE_NULL: return 1;
    default: return a->n==b->n && (a->n==0 || memcmp(a->u.z, b->u.z, a->n)==0);
  }
}

static int rpSameKey(const RpShape *s, const RpValue *a, const RpValue *b){
  int i;
  for(i=0; i<s->nPk; i++) if( !rpSame(&a[s->aiPk[i]], &b[s->aiPk[i]]) ) return 0;
  return 1;
}

/* Whether two keys are equal in the index of the primary key: by their collations, or because 1 equals 1.0. */
static int rpEqualKey(const RpShape *s, const RpValue *a, const RpValue *b){
  int i;
  for(i=0; i<s->nPk; i++){
    const RpValue *x = &a[s->aiPk[i]], *y = &b[s->aiPk[i]];
    int bEqual;
    if( x->eType==SQLITE_INTEGER && y->eType==SQLITE_FLOAT ) bEqual = sqlite3IntFloatCompare(x->u.i, y->u.r)==0;
    else if( x->eType==SQLITE_FLOAT && y->eType==SQLITE_INTEGER ) bEqual = sqlite3IntFloatCompare(y->u.i, x->u.r)==0;
    else if( x->eType!=y->eType || x->eType==SQLITE_NULL ) bEqual = 0;
    else if( x->eType==SQLITE_FLOAT ) bEqual = x->u.r==y->u.r;
    else if( x->eType==SQLITE_TEXT && s->apColl[i] ){
      CollSeq *pColl = s->apColl[i];
      bEqual = pColl->xCmp(pColl->pUser, (int)x->n, x->u.z, (int)y->n, y->u.z)==0;
    }else bEqual = rpSame(x, y);
    if( !bEqual ) return 0;
  }
  return 1;
}

/* A hash of a key. Keys have the same hash if rpEqualKey() is true. */
static u32 rpHashKey(const RpShape *s, const RpValue *a){
  u32 h = 2166136261u;
  int i;
  for(i=0; i<s->nPk; i++){
    const RpValue *x = &a[s->aiPk[i]];
    if( x->eType==SQLITE_INTEGER || x->eType==SQLITE_FLOAT ){
      double r = x->eType==SQLITE_INTEGER ? (double)x->u.i : x->u.r;
      u64 u;
      r += 0.0;  /* -0.0 becomes 0.0 */
      memcpy(&u, &r, 8);
      h = (h ^ (u32)u ^ (u32)(u>>32)) * 16777619u;
    }else if( x->eType==SQLITE_BLOB ){
      h = rpHashText(h, x->u.z, x->n, 0);
    }else if( x->eType==SQLITE_TEXT ){
      CollSeq *pColl = s->apColl[i];
      if( sqlite3IsBinary(pColl) ) h = rpHashText(h, x->u.z, x->n, 0);
      else if( pColl->xCmp==nocaseCollatingFunc ) h = rpHashText(h, x->u.z, x->n, 1);
      /* With any other collation, all texts have the same hash. */
    }
    h = h*31 + 7;
  }
  return h ^ (h>>15);
}

/* Makes room for n more bytes of the result. */
static u8 *rpRoom(RpCapture *p, u64 n){
  if( p->nOut + n > p->nOutAlloc ){
    u64 nAlloc = (p->nOut + n)*2 + 512;
    u8 *a;
    if( p->nOut + n > RP_MAX_BYTES ){ p->rc = SQLITE_TOOBIG; return 0; }
    if( nAlloc>RP_MAX_BYTES ) nAlloc = RP_MAX_BYTES;
    a = sqlite3_realloc64(p->aOut, nAlloc);
    if( a==0 ){ p->rc = SQLITE_NOMEM; return 0; }
    p->aOut = a;
    p->nOutAlloc = (u32)nAlloc;
  }
  return &p->aOut[p->nOut];
}

static void rpWriteByte(RpCapture *p, u8 c){
  u8 *a = rpRoom(p, 1);
  if( a ){ a[0] = c; p->nOut++; }
}

/* Writes JSONB as text. Any other blob remains a blob, which the merge rules reject. */
static void rpWriteValue(RpCapture*, const RpValue*);
static void rpWriteJson(RpCapture *p, const RpValue *pVal){
  u64 nText = pVal->n>0 ? rpJsonTextLength(pVal->u.z, pVal->n) : 0;
  if( nText>0 ){
    u32 i = 0;
    u8 *a = rpRoom(p, nText + 10);
    if( a==0 ) return;
    a[0] = SQLITE_TEXT;
    p->nOut += 1 + sqlite3PutVarint(&a[1], nText);
    rpJsonWrite(pVal->u.z, &i, pVal->n, &p->aOut[p->nOut]);
    p->nOut += (u32)nText;
  }else{
    RpValue text = *pVal;
    char *z = rpJsonByTheEngine(pVal->u.z, pVal->n, &nText);
    if( z ){
      text.eType = SQLITE_TEXT;
      text.n = (u32)nText;
      text.u.z = (u8*)z;
    }
    rpWriteValue(p, &text);
    if( z ) sqlite3RCStrUnref(z);
  }
}

/* Writes a value in the format of a session's changeset. pVal 0: no value. */
static void rpWriteValue(RpCapture *p, const RpValue *pVal){
  u8 *a;
  if( pVal==0 || pVal->eType==SQLITE_NULL ){
    rpWriteByte(p, pVal==0 ? 0 : SQLITE_NULL);
  }else if( pVal->eType==SQLITE_INTEGER || pVal->eType==SQLITE_FLOAT ){
    u64 u;
    a = rpRoom(p, 9);
    if( a==0 ) return;
    memcpy(&u, &pVal->u, 8);
    a[0] = pVal->eType;
    sqlite3Put4byte(&a[1], (u32)(u>>32));
    sqlite3Put4byte(&a[5], (u32)u);
    p->nOut += 9;
  }else{
    int n;
    a = rpRoom(p, (u64)pVal->n + 10);
    if( a==0 ) return;
    a[0] = pVal->eType;
    n = 1 + sqlite3PutVarint(&a[1], pVal->n);
    if( pVal->n>0 ) memcpy(&a[n], pVal->u.z, pVal->n);
    p->nOut += n + pVal->n;
  }
}

static void rpWriteColumn(RpCapture *p, const RpShape *s, int iCol, const RpValue *pVal){
  if( pVal && s->abJson[iCol] && pVal->eType==SQLITE_BLOB ) rpWriteJson(p, pVal);
  else rpWriteValue(p, pVal);
}

/* Writes the change of a row from aOld to aNew, one of which may be 0. Writes nothing if they are equal. */
static void rpWriteRow(RpCapture *p, const RpShape *s, const RpValue *aOld, const RpValue *aNew){
  int i, bAll = aOld==0 || aNew==0;
  if( !bAll ){
    for(i=0; i<s->nCol && rpSame(&aOld[i], &aNew[i]); i++){}
    if( i==s->nCol ) return;
  }
  rpWriteByte(p, aOld==0 ? SQLITE_INSERT : aNew==0 ? SQLITE_DELETE : SQLITE_UPDATE);
  rpWriteByte(p, 0);
  for(i=0; aOld && i<s->nCol; i++){
    rpWriteColumn(p, s, i, bAll || s->abPk[i] || !rpSame(&aOld[i], &aNew[i]) ? &aOld[i] : 0);
  }
  for(i=0; aNew && i<s->nCol; i++){
    rpWriteColumn(p, s, i, bAll || !rpSame(&aOld[i], &aNew[i]) ? &aNew[i] : 0);
  }
}

/* Rows whose primary key left or entered a rowid. If one left and one entered with the same key, the row moved. */
typedef struct RpMoved RpMoved;
struct RpMoved { RpValue **ap; u32 n, nAlloc; };

RP_SMALL static int rpAddMoved(RpCapture *p, const RpShape *s, RpMoved *pList, const RpValue *aVal){
  RpValue *aCopy = rpAlloc(p, s->nCol*sizeof(RpValue));
  if( aCopy==0 ) return SQLITE_NOMEM;
  memcpy(aCopy, aVal, s->nCol*sizeof(RpValue));
  if( pList->n>=pList->nAlloc ){
    u32 nAlloc = pList->nAlloc ? pList->nAlloc*2 : 16;
    RpValue **ap = sqlite3_realloc64(pList->ap, nAlloc*sizeof(RpValue*));
    if( ap==0 ) return SQLITE_NOMEM;
    pList->ap = ap;
    pList->nAlloc = nAlloc;
  }
  pList->ap[pList->n++] = aCopy;
  return SQLITE_OK;
}

RP_SMALL static int rpWriteMoved(RpCapture *p, const RpShape *s, RpMoved *pGone, RpMoved *pCame){
  u32 i, h, mask = 16, *aSlot;
  while( mask<pCame->n*2 ) mask *= 2;
  aSlot = sqlite3_malloc64(mask*sizeof(u32));
  if( aSlot==0 ) return SQLITE_NOMEM;
  memset(aSlot, 0, mask*sizeof(u32));
  mask--;
  for(i=0; i<pCame->n; i++){
    for(h=rpHashKey(s, pCame->ap[i]); aSlot[h & mask]; h++){}
    aSlot[h & mask] = i + 1;
  }
  for(i=0; i<pGone->n; i++){
    RpValue *aGone = pGone->ap[i], *aCame = 0;
    for(h=rpHashKey(s, aGone); aSlot[h & mask]; h++){
      u32 iCame = aSlot[h & mask] - 1;
      if( pCame->ap[iCame] && rpEqualKey(s, aGone, pCame->ap[iCame]) ){
        aCame = pCame->ap[iCame];
        pCame->ap[iCame] = 0;
        break;
      }
    }
    rpWriteRow(p, s, aGone, aCame);
  }
  for(i=0; i<pCame->n; i++) if( pCame->ap[i] ) rpWriteRow(p, s, 0, pCame->ap[i]);
  sqlite3_free(aSlot);
  return SQLITE_OK;
}

/* Reads the record of a rowid into memory of the transaction. Sets *pa to 0 if the row does not exist. */
static int rpReadRow(RpCapture *p, BtCursor *pCsr, i64 iRowid, u8 **pa, u32 *pn){
  int res, rc = sqlite3BtreeTableMoveto(pCsr, iRowid, 0, &res);
  u32 n;
  u8 *a;
  *pa = 0;
  if( rc!=SQLITE_OK || res!=0 ) return rc;
  n = sqlite3BtreePayloadSize(pCsr);
  a = n>RP_MAX_BYTES-RP_PADDING ? 0 : rpAlloc(p, n + RP_PADDING);
  if( a==0 ) return SQLITE_NOMEM;
  memset(&a[n], 0, RP_PADDING);
  *pa = a;
  *pn = n;
  return sqlite3BtreePayload(pCsr, 0, n, a);
}

/* Writes the changes of one table. */
static int rpTakeTable(RpCapture *p, RpTable *t){
  RpShape *s = &t->shape;
  RpMoved gone = {0, 0, 0}, came = {0, 0, 0};
  Table *pTab = sqlite3FindTable(p->db, t->zName, p->db->aDb[0].zDbSName);
  BtCursor *pCsr;
  RpValue *aOld, *aNew;
  u32 i, nHeader;
  int rc;
  if( pTab==0 ) return SQLITE_SCHEMA;
  rc = rpShape(p, t, pTab);
  if( rc!=SQLITE_OK ) return rc;
  aOld = rpAlloc(p, s->nCol*sizeof(RpValue));
  aNew = rpAlloc(p, s->nCol*sizeof(RpValue));
  pCsr = rpAlloc(p, (u32)sqlite3BtreeCursorSize());
  if( aOld==0 || aNew==0 || pCsr==0 ) return SQLITE_NOMEM;
  sqlite3BtreeCursorZero(pCsr);
  rc = sqlite3BtreeCursor(p->db->aDb[0].pBt, pTab->tnum, 0, 0, pCsr);
  if( rc!=SQLITE_OK ) return rc;

  {
    u8 *a = rpRoom(p, (u64)s->nCol + 12 + sqlite3Strlen30(t->zName));
    if( a==0 ){ sqlite3BtreeCloseCursor(pCsr); return p->rc; }
    a[0] = 'T';
    nHeader = 1 + sqlite3PutVarint(&a[1], (u64)s->nCol);
    memcpy(&a[nHeader], s->abPk, s->nCol);
    nHeader += s->nCol;
    memcpy(&a[nHeader], t->zName, sqlite3Strlen30(t->zName) + 1);
    nHeader += sqlite3Strlen30(t->zName) + 1;
    p->nOut += nHeader;
  }
  {
    u32 nBefore = p->nOut;
    for(i=0; i<t->nEntry && rc==SQLITE_OK; i++){
      RpEntry *pEntry = &t->aEntry[i];
      RpChunk *pChunk = p->pChunk;
      u32 nUsed = pChunk->nUsed;
      u8 *a;
      u32 n = 0;
      int bKept = 0;
      rc = rpReadRow(p, pCsr, pEntry->iRowid, &a, &n);
      if( rc==SQLITE_OK && a ) rc = rpDecode(s, a, n, pEntry->iRowid, aNew);
      if( rc==SQLITE_OK && pEntry->aOld ) rc = rpDecode(s, pEntry->aOld, pEntry->nOld, pEntry->iRowid, aOld);
      if( rc!=SQLITE_OK ) break;
      if( a && pEntry->aOld && rpSameKey(s, aOld, aNew) ){
        rpWriteRow(p, s, aOld, aNew);
      }else if( t->nOld==0 ){
        /* The transaction touched no row that existed before it, so no row moved. */
        if( a ) rpWriteRow(p, s, 0, aNew);
      }else{
        if( pEntry->aOld ) rc = rpAddMoved(p, s, &gone, aOld);
        if( a && rc==SQLITE_OK ) rc = rpAddMoved(p, s, &came, aNew);
        bKept = 1;
      }
      if( !bKept ) rpReleaseTo(p, pChunk, nUsed);  /* The new record is no longer needed. */
      if( rc==SQLITE_OK ) rc = p->rc;
    }
    if( rc==SQLITE_OK && (gone.n>0 || came.n>0) ) rc = rpWriteMoved(p, s, &gone, &came);
    if( rc==SQLITE_OK ) rc = p->rc;
    if( p->nOut==nBefore ) p->nOut -= nHeader;
  }
  sqlite3_free(gone.ap);
  sqlite3_free(came.ap);
  sqlite3BtreeCloseCursor(pCsr);
  return rc;
}

/* Creates a capture for a connection, without tables. Returns 0 if memory runs out. */
RP_SMALL RP_EXPORT RpCapture *rockpool_capture_new(sqlite3 *db){
  RpCapture *p = sqlite3_malloc64(sizeof(RpCapture));
  if( p==0 ) return 0;
  memset(p, 0, sizeof(*p));
  p->db = db;
  return p;
}

/* Adds a table of `main` by its name. */
RP_SMALL RP_EXPORT int rockpool_capture_table(RpCapture *p, const char *zName){
  RpTable **ap = sqlite3_realloc64(p->apTable, (p->nTable+1)*sizeof(RpTable*));
  RpTable *t;
  if( ap==0 ) return SQLITE_NOMEM;
  p->apTable = ap;
  t = sqlite3_malloc64(sizeof(RpTable));
  if( t==0 ) return SQLITE_NOMEM;
  memset(t, 0, sizeof(*t));
  t->zName = sqlite3_mprintf("%s", zName);
  if( t->zName==0 ){ sqlite3_free(t); return SQLITE_NOMEM; }
  p->apTable[p->nTable++] = t;
  return SQLITE_OK;
}

/* Forgets the changes of a transaction. Keeps its memory for the next transaction, unless it is large or bAll is set. */
RP_SMALL static void rpForget(RpCapture *p, int bAll){
  int i;
  for(i=0; i<p->nTable; i++){
    RpTable *t = p->apTable[i];
    sqlite3_free(t->aSlot);
    t->aSlot = 0;
    t->nSlot = t->nEntry = t->nOld = 0;
    if( bAll || t->nAlloc>1024 ){
      sqlite3_free(t->aEntry);
      t->aEntry = 0;
      t->nAlloc = 0;
    }
  }
  rpFreeChunks(p, bAll);
  if( bAll || p->nOutAlloc>RP_CHUNK ){
    sqlite3_free(p->aOut);
    p->aOut = 0;
    p->nOutAlloc = 0;
  }
  p->nOut = 0;
  p->pLast = 0;
  p->rc = SQLITE_OK;
}

/* Starts recording. A connection records one capture at a time. */
RP_EXPORT void rockpool_capture_begin(RpCapture *p){
  rpForget(p, 0);
  sqlite3_preupdate_hook(p->db, rpOnChange, p);
}

/*
** Returns the net changes since rockpool_capture_begin(): their address, which is valid until the next call, in
** aResult[0], and their number of bytes in aResult[1]. Call it inside the transaction. Recording continues.
*/
RP_EXPORT int rockpool_capture_take(RpCapture *p, u32 *aResult){
  int i, rc = p->rc;
  p->nOut = 0;
  if( rc==SQLITE_OK && sqlite3_get_autocommit(p->db) ) rc = SQLITE_MISUSE_BKPT;
  for(i=0; i<p->nTable && rc==SQLITE_OK; i++){
    if( p->apTable[i]->nEntry>0 ) rc = rpTakeTable(p, p->apTable[i]);
  }
  aResult[0] = (u32)(uptr)p->aOut;
  aResult[1] = p->nOut;
  return rc;
}

/* Stops recording. */
RP_EXPORT void rockpool_capture_end(RpCapture *p){
  sqlite3_preupdate_hook(p->db, 0, 0);
  rpForget(p, 0);
}

/* Frees a capture. Call it before the connection is closed. */
RP_SMALL RP_EXPORT void rockpool_capture_free(RpCapture *p){
  int i;
  rpForget(p, 1);
  for(i=0; i<p->nTable; i++){
    rpFreeShape(&p->apTable[i]->shape);
    sqlite3_free(p->apTable[i]->zName);
    sqlite3_free(p->apTable[i]);
  }
  sqlite3_free(p->apTable);
  sqlite3_free(p);
}
