/*
** Lookups: the join of a scan's row with at most one row of another table, found by rowid or by a unique index.
**
** A scan keeps the row that it found for a key, so the next row with the same key needs no search. Most joins look up few
** rows many times. The scan keeps rows until something may have written to the database. SQLite executes a row that stays
** from its first instruction on, and moves the cursors itself.
*/

#define RP_LOOKUP_SLOTS 1024
#define RP_LOOKUP_BYTES (2*1024*1024)
#define RP_LOOKUP_ROW_BYTES 32768
/* The type of a column that the row does not have. */
#define RP_TYPE_MISSING 0xffffffff

typedef struct RpField RpField;
struct RpField {
  u32 t;
  const u8 *z;
};
/* The result of the search for a key, with the columns that the loop reads. */
struct RpFound {
  RpFound *pNext;           /* The next one in the same slot */
  RpKey key;
  u8 bExists;
  u32 nSize;                /* The size of this allocation in bytes */
  i64 iRowid;
  RpField aField[RP_LOOKUP_COLUMNS];
};

/* Frees the result for a key. Registers that point into it get a copy: the program may read them after the loop. */
RP_SMALL static void rpFreeFound(RpScan *s, RpFound *pFound){
  u32 i;
  for(i=0; i<s->nOut; i++){
    Mem *pMem = s->apOut[i];
    if( (pMem->flags & MEM_Ephem) && pMem->z>=(char*)pFound && pMem->z<=(char*)pFound+pFound->nSize && sqlite3VdbeMemMakeWriteable(pMem) ) pMem->flags = MEM_Null;
  }
  sqlite3_free(pFound);
}
RP_SMALL static void rpForgetOnce(RpScan *s, RpLookup *pLookup){
  if( pLookup->pOnce ) rpFreeFound(s, pLookup->pOnce);
  pLookup->pOnce = 0;
}
RP_SMALL static void rpForgetLookup(RpScan *s, RpLookup *pLookup){
  u32 i;
  for(i=0; pLookup->apSlot && i<RP_LOOKUP_SLOTS; i++){
    while( pLookup->apSlot[i] ){
      RpFound *pNext = pLookup->apSlot[i]->pNext;
      rpFreeFound(s, pLookup->apSlot[i]);
      pLookup->apSlot[i] = pNext;
    }
  }
  rpForgetOnce(s, pLookup);
  pLookup->nBytes = pLookup->nSeek = pLookup->nMiss = 0;
}
/* Frees all lookups when the statement ends. Its registers then need no copies. */
RP_SMALL static void rpFreeLookups(RpScan *s){
  u32 i, nOut = s->nOut;
  s->nOut = 0;
  for(i=0; i<s->nLookup; i++){
    rpForgetLookup(s, &s->aLookup[i]);
    sqlite3_free(s->aLookup[i].apSlot);
    s->aLookup[i].apSlot = 0;
  }
  s->nOut = nOut;
}

/* Between two rows, forgets all results, or those of lookups that have used too much memory. */
RP_SMALL static void rpForgetLookups(RpScan *s, int bAll){
  u32 i;
  for(i=0; i<s->nLookup; i++){
    RpLookup *pLookup = &s->aLookup[i];
    if( bAll || pLookup->nBytes>RP_LOOKUP_BYTES ) rpForgetLookup(s, pLookup);
    rpForgetOnce(s, pLookup);
    pLookup->pRow = 0;
  }
  s->bForget = 0;
}

/* Called before a run. Forgets rows that may have changed since the last run. */
RP_SMALL static void rpCheckLookups(RpScan *s){
  sqlite3 *db = s->pVdbe->db;
  u32 iVersion = 0;
  int i, bChanging = 0;
  for(i=0; i<db->nDb; i++){
    Btree *pBtree = db->aDb[i].pBt;
    if( pBtree==0 ) continue;
    bChanging |= pBtree->inTrans==TRANS_WRITE;
    iVersion += sqlite3PagerDataVersion(sqlite3BtreePager(pBtree));
  }
  if( bChanging || s->iVersion!=iVersion ) rpForgetLookups(s, 1);
  /* A rollback would also restore the version, so a version during a write matches no later one. */
  s->iVersion = bChanging ? ~iVersion : iVersion;
}

/* Appends the cursor's record to pFound, and finds its columns. Returns 1 if SQLite should execute the row. */
RP_SMALL static int rpReadFound(RpLookup *pLookup, BtCursor *pCur, RpFound **ppFound, u32 *pnUsed, int bIndex){
  u32 nPayload = sqlite3BtreePayloadSize(pCur), iHeader, nHeader, iData, iColumn, i;
  RpFound *pFound;
  const u8 *a;
  if( nPayload<1 || nPayload>RP_LOOKUP_ROW_BYTES ) return 1;
  pFound = sqlite3_realloc64(*ppFound, (u64)*pnUsed+nPayload+16);
  if( pFound==0 ) return 1;
  *ppFound = pFound;
  if( sqlite3BtreePayload(pCur, 0, nPayload, (u8*)pFound+*pnUsed) ) return 1;
  memset((u8*)pFound+*pnUsed+nPayload, 0, 16);
  a = (u8*)pFound+*pnUsed;
  iHeader = getVarint32(a, nHeader);
  if( nHeader>nPayload || nHeader<iHeader ) return 1;
  iData = nHeader;
  for(iColumn=0; iHeader<nHeader; iColumn++){
    u32 t, n;
    iHeader += getVarint32(&a[iHeader], t);
    n = t<128 ? sqlite3SmallTypeSizes[t] : (t-12)/2;
    if( n>nPayload-iData || iHeader>nHeader ) return 1;
    for(i=0; i<pLookup->nColumn; i++){
      if( pLookup->aColumn[i].bIndex!=bIndex || pLookup->aColumn[i].iColumn!=iColumn ) continue;
      pFound->aField[i].t = t;
      /* An offset, because a realloc may move the memory. rpSeek() makes a pointer of it. */
      pFound->aField[i].z = (const u8*)(size_t)(*pnUsed+iData);
    }
    iData += n;
  }
  *pnUsed += nPayload+16;
  return 0;
}

RP_SMALL static int rpIsLookupCursor(VdbeCursor *pC, int bTable){
  return pC && pC->eCurType==CURTYPE_BTREE && pC->isTable==bTable && !pC->isEphemeral;
}

/*
** Finds the row of a key and stores it in pLookup->pRow, or 0 if there is none. Returns SQLITE_OK, RP_ROW_STAYS if SQLite
** should execute the row, or an error.
*/
RP_MEDIUM static SQLITE_NOINLINE int rpSeek(RpScan *s, RpLookup *pLookup, Mem *pKey){
  Vdbe *p = s->pVdbe;
  VdbeCursor *pTable = pLookup->iTable>=0 ? p->apCsr[pLookup->iTable] : 0, *pIndex = pLookup->iIndex>=0 ? p->apCsr[pLookup->iIndex] : 0;
  RpKey key;
  RpFound *pFound, **ppSlot;
  u32 i, nUsed = sizeof(RpFound);
  int rc, res = 0;
  pLookup->pRow = 0;
  /* A search of an index for NULL comes from IS, which may find rows. */
  if( pKey->flags & MEM_Null ) return pIndex ? RP_ROW_STAYS : SQLITE_OK;
  if( rpKeyOf(pKey, &key, 0, 0) ) return RP_ROW_STAYS;
  if( pIndex==0 && key.eType!=SQLITE_INTEGER ) return RP_ROW_STAYS;
  if( pLookup->apSlot==0 ){
    pLookup->apSlot = sqlite3_malloc64(RP_LOOKUP_SLOTS*sizeof(RpFound*));
    if( pLookup->apSlot==0 ) return RP_ROW_STAYS;
    memset(pLookup->apSlot, 0, RP_LOOKUP_SLOTS*sizeof(RpFound*));
  }
  pLookup->nSeek++;
  ppSlot = &pLookup->apSlot[rpHashOfKey(0, &key, 0) & (RP_LOOKUP_SLOTS-1)];
  for(pFound=*ppSlot; pFound; pFound=pFound->pNext){
    if( rpIsSameKey(&pFound->key, &key, 0) ){
      if( pFound->bExists ) pLookup->pRow = pFound;
      return SQLITE_OK;
    }
  }
  pLookup->nMiss++;
  if( (pLookup->iTable>=0 && !rpIsLookupCursor(pTable, 1)) || (pLookup->iIndex>=0 && !rpIsLookupCursor(pIndex, 0)) ) return RP_ROW_STAYS;
  pFound = sqlite3_malloc64(nUsed);
  if( pFound==0 ) return RP_ROW_STAYS;
  memset(pFound, 0, sizeof(*pFound));
  for(i=0; i<pLookup->nColumn; i++) pFound->aField[i].t = RP_TYPE_MISSING;
  pFound->iRowid = key.u.i;
  if( pIndex ){
    UnpackedRecord r;
    memset(&r, 0, sizeof(r));
    r.pKeyInfo = pIndex->pKeyInfo;
    r.aMem = pKey;
    r.nField = 1;
    pIndex->nullRow = 0;
    pIndex->deferredMoveto = 0;
    pIndex->cacheStatus = CACHE_STALE;
    rc = sqlite3BtreeIndexMoveto(pIndex->uc.pCursor, &r, &res);
    if( rc ) goto failed;
    pFound->bExists = res==0;
    if( res==0 ){
      if( rpReadFound(pLookup, pIndex->uc.pCursor, &pFound, &nUsed, 1) ) goto stays;
      if( pTable && (rc = sqlite3VdbeIdxRowid(p->db, pIndex->uc.pCursor, &pFound->iRowid))!=SQLITE_OK ) goto failed;
    }
  }
  if( pTable && res==0 ){
    pTable->nullRow = 0;
    pTable->deferredMoveto = 0;
    pTable->cacheStatus = CACHE_STALE;
    rc = sqlite3BtreeTableMoveto(pTable->uc.pCursor, pFound->iRowid, 0, &res);
    if( rc ) goto failed;
    /* The index is corrupt: it has a row that the table does not have. */
    if( res && pIndex ) goto stays;
    pFound->bExists = res==0;
    if( res==0 && rpReadFound(pLookup, pTable->uc.pCursor, &pFound, &nUsed, 0) ) goto stays;
  }
  if( key.n>0 ){
    RpFound *pNew = sqlite3_realloc64(pFound, (u64)nUsed+key.n);
    if( pNew==0 ) goto stays;
    pFound = pNew;
    memcpy((u8*)pFound+nUsed, key.u.z, key.n);
    key.u.z = (u8*)pFound+nUsed;
    nUsed += key.n;
  }
  pFound->key = key;
  pFound->nSize = nUsed;
  for(i=0; i<pLookup->nColumn; i++) if( pFound->aField[i].t!=RP_TYPE_MISSING ) pFound->aField[i].z = (u8*)pFound + (size_t)pFound->aField[i].z;
  if( pLookup->nMiss>1024 && pLookup->nMiss*2>pLookup->nSeek ){
    /* Most keys occur only once, so keeping their rows would cost memory and save no search. */
    pLookup->pOnce = pFound;
    s->bForget = 1;
  }else{
    pFound->pNext = *ppSlot;
    *ppSlot = pFound;
    pLookup->nBytes += nUsed;
    if( pLookup->nBytes>RP_LOOKUP_BYTES ) s->bForget = 1;
  }
  if( pFound->bExists ) pLookup->pRow = pFound;
  return SQLITE_OK;

failed:
  sqlite3_free(pFound);
  return rc;
stays:
  sqlite3_free(pFound);
  return RP_ROW_STAYS;
}

static i64 rpLookupRowid(const RpLookup *pLookup){
  return pLookup->pRow->iRowid;
}

/* OP_Column for a row that a lookup found. */
RP_MEDIUM static void rpLookupColumn(const RpLookup *pLookup, const RpInsn *q){
  const RpField *pField;
  if( pLookup->pRow==0 ){
    sqlite3VdbeMemSetNull(q->p3);
    return;
  }
  pField = &pLookup->pRow->aField[q->iColumn>>8];
  if( pField->t!=RP_TYPE_MISSING ) rpLoad(q->p3, pField->t, pField->z);
  else if( q->pOp->p4type==P4_MEM ) sqlite3VdbeMemShallowCopy(q->p3, q->pOp->p4.pMem, MEM_Static);
  else sqlite3VdbeMemSetNull(q->p3);
}

/* ---------------------------------------------------------------- Translation */

#ifdef __EMSCRIPTEN__
#pragma clang attribute push(__attribute__((minsize)), apply_to = function)
#endif

/* Whether a cursor reads a unique index of one column that compares with BINARY. */
static int rpIsUniqueIndex(Vdbe *p, int iCursor){
  int i;
  for(i=0; i<p->nOp; i++){
    Op *pOp = &p->aOp[i];
    HashElem *e;
    if( pOp->opcode!=OP_OpenRead || pOp->p1!=iCursor || pOp->p4type!=P4_KEYINFO || (pOp->p5 & OPFLAG_P2ISREG) ) continue;
    if( !sqlite3IsBinary(pOp->p4.pKeyInfo->aColl[0]) ) return 0;
    for(e=sqliteHashFirst(&p->db->aDb[pOp->p3].pSchema->idxHash); e; e=sqliteHashNext(e)){
      Index *pIndex = sqliteHashData(e);
      if( (int)pIndex->tnum==pOp->p2 ) return IsUniqueIndex(pIndex) && pIndex->nKeyCol==1;
    }
    return 0;
  }
  return 0;
}

/* LEFT JOIN: finds the instructions after the body, OP_IfPos to OP_Goto, which run the body with NULLs for no row. */
static int rpFindLeft(RpScan *s, RpLookup *pLookup){
  Op *a = s->pVdbe->aOp;
  int iBody = pLookup->iAddr+pLookup->nOp, i, iZero = 0;
  Op *pIf = &a[pLookup->iMiss];
  if( pLookup->iMiss<=iBody || pLookup->iMiss>=s->iNext || pIf->opcode!=OP_IfPos || pIf[1].opcode!=OP_NullRow ) return 1;
  for(i=pLookup->iMiss+1; a[i].opcode==OP_NullRow && (a[i].p1==pLookup->iTable || a[i].p1==pLookup->iIndex); i++){}
  if( a[i].opcode!=OP_Goto || a[i].p2!=iBody ) return pLookup->iTable!=pIf[1].p1 && pLookup->iIndex!=pIf[1].p1;
  for(iZero=s->iTop; iZero<pLookup->iAddr && !(a[iZero].opcode==OP_Integer && a[iZero].p1==0 && a[iZero].p2==pIf->p1); iZero++){}
  if( iZero==pLookup->iAddr || a[iBody].opcode!=OP_Integer || a[iBody].p1!=1 || a[iBody].p2!=pIf->p1 ) return 0;
  pLookup->iLeft = pLookup->iMiss;
  pLookup->iLeftEnd = i+1;
  return 1;
}

/* Finds the lookups in the body of a loop. */
static void rpFindLookups(RpScan *s){
  Vdbe *p = s->pVdbe;
  int i;
  u32 nColumn;
  for(i=s->iTop; i<s->iNext && s->nLookup<RP_MAX_LOOKUPS; i++){
    Op *pOp = &p->aOp[i];
    RpLookup *pLookup = &s->aLookup[s->nLookup];
    memset(pLookup, 0, sizeof(*pLookup));
    pLookup->iAddr = i;
    pLookup->iMiss = pOp->p2;
    pLookup->iTable = pLookup->iIndex = -1;
    if( pOp->p2<=i || pOp->p1==s->iCursor ) continue;
    if( pOp->opcode==OP_SeekRowid ){
      pLookup->iTable = pOp->p1;
      pLookup->nOp = 1;
    }else if( pOp->opcode==OP_SeekGE && pOp->p4type==P4_INT32 && pOp->p4.i==1 ){
      if( pOp[1].opcode!=OP_IdxGT || pOp[1].p1!=pOp->p1 || pOp[1].p2!=pOp->p2 || pOp[1].p3!=pOp->p3 || pOp[1].p4.i!=1 || !rpIsUniqueIndex(p, pOp->p1) ) continue;
      pLookup->iIndex = pOp->p1;
      pLookup->nOp = 2;
      if( pOp[2].opcode==OP_DeferredSeek && pOp[2].p1==pOp->p1 ){
        pLookup->iTable = pOp[2].p3;
        pLookup->nOp = 3;
      }
    }else{
      continue;
    }
    if( pLookup->iTable==s->iCursor || (pLookup->iTable>=0 && !rpReadsTable(p, pLookup->iTable, &nColumn)) || !rpFindLeft(s, pLookup) ) continue;
    s->nLookup++;
  }
}

/* Whether the instructions from an address to OP_Next do nothing if every lookup found a row. */
static int rpIsTail(RpScan *s, int i){
  u32 k;
  while( i<s->iNext ){
    for(k=0; k<s->nLookup; k++){
      RpLookup *pLookup = &s->aLookup[k];
      if( pLookup->iLeft==i && i ){
        i = pLookup->iLeftEnd;
        break;
      }
      if( pLookup->iIndex>=0 && s->pVdbe->aOp[i].opcode==OP_Next && s->pVdbe->aOp[i].p1==pLookup->iIndex ){
        i++;
        break;
      }
    }
    if( k==s->nLookup ) return 0;
  }
  return i==s->iNext;
}

/*
** Translates an instruction of a lookup. Returns how many instructions of SQLite it replaces, or 0 for any other
** instruction. RP_NULLROW follows the RP_SEEK of a LEFT JOIN and is skipped if the lookup found a row.
*/
static int rpTranslateLookup(RpBody *b, int iAddr){
  RpScan *s = b->s;
  Op *pOp = &s->pVdbe->aOp[iAddr];
  RpInsn *q;
  u32 k, i;
  for(k=0; k<s->nLookup; k++){
    RpLookup *pLookup = &s->aLookup[k];
    if( pLookup->iAddr==iAddr ){
      q = rpEmit(s, RP_SEEK, pOp);
      if( q==0 ) return 1;
      q->iColumn = k;
      q->p1 = rpRegister(b, pOp->p3, 0);
      if( pLookup->iLeft==0 ){
        q->iJump = (u32)pLookup->iMiss;
      }else if( (q = rpEmit(s, RP_NULLROW, pOp))!=0 ){
        q->iColumn = k;
        pLookup->iNullRow = s->nInsn-1;
      }
      return pLookup->nOp;
    }
    if( iAddr<pLookup->iAddr ) continue;
    if( pLookup->iLeft==iAddr ){
      if( (q = rpEmit(s, RP_GOTO, pOp))!=0 ) q->iJump = (u32)pOp->p2;
      return pLookup->iLeftEnd-iAddr;
    }
    /* A unique index has no other row with the key. */
    if( pOp->opcode==OP_Next && pOp->p1==pLookup->iIndex && rpIsTail(s, iAddr) ) return 1;
    if( pOp->opcode==OP_Rowid && pOp->p1==pLookup->iTable ){
      if( (q = rpEmit(s, RP_LOOKUP_ROWID, pOp))!=0 ){
        q->iColumn = k;
        q->p3 = rpRegister(b, pOp->p2, 1);
      }
      return 1;
    }
    if( pOp->opcode!=OP_Column || (pOp->p1!=pLookup->iTable && pOp->p1!=pLookup->iIndex) ) continue;
    for(i=0; i<pLookup->nColumn && (pLookup->aColumn[i].bIndex!=(pOp->p1==pLookup->iIndex) || pLookup->aColumn[i].iColumn!=(u32)pOp->p2); i++){}
    if( i>=RP_LOOKUP_COLUMNS ) return 0;
    pLookup->aColumn[i].bIndex = pOp->p1==pLookup->iIndex;
    pLookup->aColumn[i].iColumn = (u32)pOp->p2;
    pLookup->nColumn = MAX(pLookup->nColumn, i+1);
    q = rpEmit(s, RP_LOOKUP_COLUMN, pOp);
    if( q==0 ) return 1;
    q->iColumn = k | i<<8;
    q->p3 = rpRegister(b, pOp->p3, 1);
    rpAddOut(s, q->p3);
    /* The register outlives the row, so the next row would read memory that a lookup has freed. */
    if( b->bCarried ) q->eCode = RP_STAY;
    return 1;
  }
  return 0;
}

#ifdef __EMSCRIPTEN__
#pragma clang attribute pop
#endif
