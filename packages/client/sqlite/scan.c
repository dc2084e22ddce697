/*
** Scans: runs the rest of a loop over a table without SQLite's virtual machine.
**
** SQLite still runs the statement: its program opens the cursor, executes the first rows, and does everything after the
** loop. At OP_Next and OP_Rewind (hooks.mjs adds the calls) the program hands the loop over. The loop may be over a
** whole table, a range of rowids, or an index that contains every column that the loop needs. The instructions of the
** loop's body are translated once (rpTranslate) to instructions that work on the same registers, and run here over
** the cells of each leaf page.
**
** Exactness follows from three rules:
** 1. An instruction has the effect of the one it replaces, on the same registers, or calls the same function of SQLite.
** 2. A row that needs an instruction without a translation stays: the cursor remains on the row, and SQLite executes
**    the body for it. This is decided before the row has an effect, so SQLite finds the state that it would have made.
** 3. Between leaf pages, no register points into a page.
**
** GROUP BY has two loops in SQLite: the first sorts all rows, the second aggregates. Here the first loop aggregates by
** hash. Only the first row of a group stays, so SQLite sorts one row per group, and each OP_SorterNext of the second
** loop replaces the accumulators with those of the whole group. If the hash grows too large, the first loop restarts
** without it. Until then the loop has only filled the sorter, which is emptied.
*/

/* Codes of translated instructions. */
enum {
  RP_DONE,                  /* The row is complete */
  RP_STAY,                  /* SQLite must execute the row */
  RP_EXIT,                  /* SQLite must execute the row, which ends the loop */
  RP_GATE,                  /* Before the first effect: no later instruction may leave the row to SQLite */
  RP_COLUMN, RP_ROWID, RP_REAL, RP_COPY, RP_INTEGER, RP_SETNULL, RP_CAST,
  RP_COMPARE, RP_ISNULL, RP_NOTNULL, RP_IF, RP_IFNOT, RP_GOTO, RP_ONCE, RP_OFFSET,
  RP_ARITHMETIC, RP_LOGIC, RP_NOT, RP_FUNCTION, RP_LIKE,
  RP_COUNT, RP_SUM, RP_STEP,
  RP_GROUP, RP_GROUP_COLUMN, RP_GROUP_COUNT, RP_GROUP_SUM, RP_GROUP_BEST,
  RP_RESULT, RP_TOP,
  RP_SEEK, RP_NULLROW, RP_LOOKUP_COLUMN, RP_LOOKUP_ROWID
};

/* Results of rpRunRows() and rpRunLeaf() besides errors of SQLite. */
#define RP_LEAF_DONE (-1)
#define RP_ROW_STAYS (-2)
#define RP_GIVE_UP (-3)

/* Loops of a statement are translated after this many steps. Translation costs about as much as 20 rows. */
#define RP_FIRST_STEPS 64
/* If most rows stay, a scan gains nothing. After this many, SQLite executes 64 rows, then 128, up to the bound. */
#define RP_MOST_STAYING 16
#define RP_MOST_WAITING 65536
/* A loop over a range is often short or repeated. SQLite executes this many of its rows before a scan takes over. */
#define RP_RANGE_WAIT 64
#define RP_LARGE_ROW 256
#define RP_GROUP_BYTES (64*1024*1024)
#define RP_MAX_KEYS 8
#define RP_NO_JUMP 0xffffffff

typedef struct RpInsn RpInsn;
struct RpInsn {
  u8 eCode;
  u8 bMax;                  /* RP_GROUP_BEST: max(), not min() */
  u8 bReached;              /* For rpAllStay(): a row can reach the instruction */
  u8 bCarried;              /* Writes a register that the body reads before it writes it: the next row sees the value */
  u32 iJump;                /* An address of SQLite's program, then an index of aInsn */
  u32 iColumn;              /* RP_COLUMN: the column. RP_GATE: columns read later. RP_GROUP_*: offset of the state */
  Mem *p1, *p2, *p3;
  Op *pOp;                  /* The instruction of SQLite that this one replaces */
};

/* A GROUP BY key. Numbers that are equal have the same key. */
typedef struct RpKey RpKey;
struct RpKey {
  u8 eType;                 /* SQLITE_INTEGER ... SQLITE_NULL */
  u32 n;
  union { i64 i; double r; const u8 *z; } u;
};
/* Followed by nKey keys and the states of the aggregates. */
typedef struct RpGroup RpGroup;
struct RpGroup {
  u32 iHash;
  u32 unused;
};
#define RP_KEYS(pGroup) ((RpKey*)&(pGroup)[1])
typedef struct RpArea RpArea;
struct RpArea {
  RpArea *pNext;
  u64 unused;
};

#define RP_MAX_LOOKUPS 4
#define RP_LOOKUP_COLUMNS 12
typedef struct RpFound RpFound;
/* A lookup of at most one row of another table for each row (scan-lookup.c). */
typedef struct RpLookup RpLookup;
struct RpLookup {
  int iAddr, nOp;           /* The instructions of the search: address and number */
  int iTable, iIndex;       /* Cursors, or -1 */
  int iMiss;                /* Where SQLite jumps if there is no row */
  int iLeft, iLeftEnd;      /* LEFT JOIN: the instructions after the body, or 0 */
  u32 iNullRow;             /* LEFT JOIN: index of RP_NULLROW */
  u32 nColumn;
  struct { u32 iColumn; u8 bIndex; } aColumn[RP_LOOKUP_COLUMNS];
  RpFound **apSlot;
  RpFound *pOnce;           /* Found for the current row only, then freed */
  const RpFound *pRow;      /* The row that was found for the current row, or 0 */
  u32 nBytes, nSeek, nMiss;
};

/* The translation of one loop, and its position. */
typedef struct RpScan RpScan;
struct RpScan {
  RpWait wait;              /* Must be the first member: SQLite counts it down */
  RpScan *pNextScan;
  Vdbe *pVdbe;
  int iNext, iTop, iStart;  /* Addresses: OP_Next; the body; OP_Rewind or the search of a range, or 0 */
  Op *pEnd;                 /* The instruction that ends a range, or 0 */
  int iCursor;
  int iWhyNot;              /* Opcode of the first instruction that is not translated, or 0 */
  u8 bIndex;                /* The rows are of an index, or of a table WITHOUT ROWID */
  u32 nIndexColumn;
  u8 bUsable;
  u8 bOff;                  /* The scan is off for this run */
  u8 bStepped;              /* SQLite has executed each OP_AggStep once, which allocates the memory of a step */
  u32 nInsn, nInsnAlloc;
  RpInsn *aInsn;
  u32 nOut;
  Mem **apOut;              /* Registers that may point into a page */
  u32 iTouched;             /* Keeps the compiler from removing rpReadAhead() */
  u32 nRow, nStayed;        /* Rows of this run since the scan last waited */
  u32 nNextWait;            /* The value of wait.nRow for the next wait */

  /* The current row. */
  const u8 *aRow;
  u32 nLocal, nPayload;
  u32 nParsed, nField;
  const u8 *pHeader, *pHeaderEnd;
  u32 *aType, *aOffset;     /* nField types, nField+1 offsets */
  u8 *aWhole;               /* Copy of a row with overflow pages */
  u32 nWholeAlloc;

  Op *pTop;                 /* ORDER BY with LIMIT */
  /* ORDER BY with LIMIT: the largest row that SQLite keeps. GROUP BY over a range of an index: its first row. */
  UnpackedRecord *pKept;
  u8 *aKept;
  u32 nKeptAlloc;
  u8 bKept;

  /* GROUP BY. */
  int iSorter, iSorterNext, iKeyNow, iPseudo, iRecord;
  int iGroupEnd;            /* Address of the first loop's OP_MakeRecord */
  u32 nKey, nState;
  u8 aNoCase[RP_MAX_KEYS];
  u8 bSameKeys;             /* min() or max() chooses bare columns, which are keys: all rows of a group must agree */
  u8 eGroup;                /* RP_NOT_STARTED... */
  u32 nTemp;
  Mem *aTemp;               /* Replace the registers of SQLite's second loop */
  int *aiTemp;              /* The numbers of the replaced registers */
  RpGroup **apSlot;
  u32 nSlot, nGroup;
  RpArea *pChunk;
  u32 nChunkUsed, nChunkAlloc;
  u64 nBytes;
  RpGroup *pGroup;          /* The group of the current row */
  RpGroup **apRecent;       /* Groups of one key by its hash, or 0 (scan-batch.c) */

  u32 nLookup;
  RpLookup aLookup[RP_MAX_LOOKUPS];
  u32 iVersion;             /* Version of the databases when the lookups began */
  u8 bForget;               /* Lookups must be forgotten after the row */

  struct RpBatch *pBatch;   /* Executes many rows at once (scan-batch.c), or 0 */
  u32 nBatchRows;           /* Maximum number of rows in the next batch */
  u32 nBatched, nRefused;   /* Rows in batches, and rows that ended one. If most end one, rpRunRows() runs all */
  u8 bNoMemory;
};
static void rpPlanBatch(RpScan*);
#define RP_ONES 0x0101010101010101ULL
static int rpLikeWord(Mem *pPattern, u8 *aWord);
static int rpContains(const u8 *z, u32 n, const u8 *aWord, u32 nWord, u32 iRare, u64 rare);
static int rpBatch(RpScan*, u32 iCell, u32 n, u32 *pnSel);
static const u8 *rpBatchRows(void);
static int rpIsFilterBatch(struct RpBatch*);
static int rpIsCountBatch(struct RpBatch*);
static void rpForgetRecent(RpScan*);
static int rpSeek(RpScan*, RpLookup*, Mem *pKey);
static void rpLookupColumn(const RpLookup*, const RpInsn*);
static i64 rpLookupRowid(const RpLookup*);
static void rpForgetLookups(RpScan*, int bAll);
static void rpCheckLookups(RpScan*);
static void rpFreeLookups(RpScan*);
static void rpFindLookups(RpScan*);
static int rpIsTail(RpScan*, int iAddr);
enum { RP_NOT_STARTED, RP_HASHED, RP_GAVE_UP };

/* 0: never scan, 1: scan when it pays, 2: scan always, from the first row. Tests compare 0 and 2. */
static int rpScanMode = 1;
static u64 rpGroupBytes = RP_GROUP_BYTES;
static u32 rpBatched;
/* Returns the number of rows that batches have executed since the last call. */
RP_EXPORT u32 rockpool_scan_mode(int eMode, u32 nGroupBytes){
  u32 nBatched = rpBatched;
  rpBatched = 0;
  rpScanMode = eMode;
  rpGroupBytes = nGroupBytes ? nGroupBytes : RP_GROUP_BYTES;
  return nBatched;
}

/* ---------------------------------------------------------------- The current row */

/* Has SQLite parse the cell again, because the cursor is on another one. */
static void rpUnposition(BtCursor *pCur){
  pCur->info.nSize = 0;
  pCur->curFlags &= ~(BTCF_ValidNKey|BTCF_ValidOvfl);
}

/*
** Copies the n bytes of the cursor's record to *pa, followed by 16 zero bytes. A damaged page may state any size, so n
** is first compared with the size of the database. Returns 1 if there is no such record.
*/
RP_SMALL static int rpCopyRecord(BtCursor *pCur, u32 n, u8 **pa, u32 *pnAlloc){
  if( n>RP_MAX_BYTES || sqlite3BtreeMaxRecordSize(pCur)<(i64)n ) return 1;
  if( n+16>*pnAlloc ){
    u8 *a = sqlite3_realloc64(*pa, (u64)n+16);
    if( a==0 ) return 1;
    *pa = a;
    *pnAlloc = n+16;
  }
  if( sqlite3BtreePayload(pCur, 0, n, *pa) ) return 1;
  memset(&(*pa)[n], 0, 16);
  return 0;
}

/* Copies a row with overflow pages. */
RP_SMALL static int rpWholeRow(RpScan *s){
  BtCursor *pCur = s->pVdbe->apCsr[s->iCursor]->uc.pCursor;
  u64 iHeader = (u64)(s->pHeader - s->aRow), nHeader = (u64)(s->pHeaderEnd - s->aRow);
  rpUnposition(pCur);
  if( sqlite3BtreePayloadSize(pCur)!=s->nPayload || rpCopyRecord(pCur, s->nPayload, &s->aWhole, &s->nWholeAlloc) ) return 1;
  s->aRow = s->aWhole;
  s->nLocal = s->nPayload;
  s->pHeader = &s->aRow[iHeader];
  s->pHeaderEnd = &s->aRow[nHeader];
  return 0;
}

/* Parses the types of the first n columns. Returns 1 if SQLite must check the row, because it may be corrupt. */
static int rpParse(RpScan *s, u32 n){
  u32 i = s->nParsed;
  u64 iOffset = s->aOffset[i];
  const u8 *z = s->pHeader, *pEnd = s->pHeaderEnd;
  while( i<n && z<pEnd ){
    u32 t = *z;
    if( t<128 ){
      z++;
      iOffset += sqlite3SmallTypeSizes[t];
    }else{
      z += sqlite3GetVarint32(z, &t);
      if( (t-12)/2>(u32)s->pVdbe->db->aLimit[SQLITE_LIMIT_LENGTH] ) return 1;
      iOffset += (t-12)/2;
    }
    s->aType[i] = t;
    if( iOffset>s->nPayload ) return 1;
    s->aOffset[++i] = (u32)iOffset;
  }
  if( iOffset>s->nPayload || z>pEnd || (z==pEnd && iOffset!=s->nPayload) ) return 1;
  s->nParsed = i;
  s->pHeader = z;
  return iOffset>s->nLocal ? rpWholeRow(s) : 0;
}

/* Begins the row of a cell whose payload starts at p. Returns 1 if SQLite must check the row. */
RP_SMALL static int rpBeginLargeRow(RpScan *s, MemPage *pPage, u8 *pCell, const u8 *p, u32 nPayload){
  u32 nHeader;
  s->aRow = p;
  s->nPayload = s->nLocal = nPayload;
  if( nPayload>pPage->maxLocal ){
    CellInfo info;
    pPage->xParseCell(pPage, pCell, &info);
    s->nLocal = info.nLocal;
  }
  if( p>=pPage->aDataEnd || s->nLocal>(u32)(pPage->aDataEnd-p) || s->nLocal<2 ) return 1;
  nHeader = *p++;
  if( nHeader>=0x80 ) p += sqlite3GetVarint32(p-1, &nHeader) - 1;
  s->pHeader = p;
  s->pHeaderEnd = &s->aRow[nHeader];
  s->nParsed = 0;
  s->aOffset[0] = nHeader;
  if( nHeader<=s->nLocal ) return nHeader==0;
  return nHeader>s->nPayload || rpWholeRow(s);
}

#define RP_WRITABLE(pMem) if( VdbeMemDynamic(pMem) ) sqlite3VdbeMemSetNull(pMem)

/* Sets a register to the value of type t at z. Text and blobs point to z. */
static SQLITE_INLINE void rpLoad(Mem *pMem, u32 t, const u8 *z){
  RP_WRITABLE(pMem);
  switch( t ){
    case 1: pMem->u.i = ONE_BYTE_INT(z); break;
    case 2: pMem->u.i = TWO_BYTE_INT(z); break;
    case 3: pMem->u.i = THREE_BYTE_INT(z); break;
    case 4: pMem->u.i = FOUR_BYTE_INT(z); break;
    case 5: pMem->u.i = SIX_BYTE_INT(z); break;
    case 6: pMem->u.i = (i64)sqlite3Get8byte(z); break;
    case 7: {
      u64 x = sqlite3Get8byte(z);
      swapMixedEndianFloat(x);
      pMem->flags = IsNaN(x) ? MEM_Null : MEM_Real;
      memcpy(&pMem->u.r, &x, 8);
      return;
    }
    case 8: case 9: pMem->u.i = t-8; break;
    case 0: case 11: pMem->flags = MEM_Null; return;
    case 10:
      pMem->flags = MEM_Null|MEM_Zero;
      pMem->u.nZero = 0;
      pMem->n = 0;
      return;
    default:
      pMem->flags = (t&1) ? MEM_Str|MEM_Ephem : MEM_Blob|MEM_Ephem;
      pMem->z = (char*)z;
      pMem->n = (int)((t-12)/2);
      pMem->enc = SQLITE_UTF8;
      return;
  }
  pMem->flags = MEM_Int;
}

/*
** Copies values that point into the leaf page or the copy of a row, before either changes. Others can be ephemeral: if
** only the type or length of a value matters, OP_Column points to content that is shorter than the register says.
*/
static int rpKeepRegisters(RpScan *s, MemPage *pPage){
  u32 i;
  for(i=0; i<s->nOut; i++){
    Mem *pMem = s->apOut[i];
    const u8 *z = (const u8*)pMem->z;
    if( (pMem->flags & MEM_Ephem) && ((z>=pPage->aData && z<=pPage->aDataEnd) || (s->aWhole && z>=s->aWhole && z<=&s->aWhole[s->nWholeAlloc])) ){
      int rc = sqlite3VdbeMemMakeWriteable(pMem);
      if( rc ) return rc;
    }
  }
  return SQLITE_OK;
}

/* ---------------------------------------------------------------- Instructions that are more than a few lines */

/* OP_Eq...OP_Ge, except for two integers: returns whether to jump. */
RP_MEDIUM static int rpCompare(Op *pOp, Mem *pIn1, Mem *pIn3){
  u16 flags1 = pIn1->flags, flags3 = pIn3->flags;
  char affinity = pOp->p5 & SQLITE_AFF_MASK;
  int res;
  if( (flags1|flags3) & MEM_Null ){
    if( (pOp->p5 & SQLITE_NULLEQ)==0 ) return (pOp->p5 & SQLITE_JUMPIFNULL)!=0;
    if( (flags1 & flags3 & MEM_Null) && (flags3 & MEM_Cleared)==0 ) res = 0;
    else res = (flags3 & MEM_Null) ? -1 : +1;
  }else{
    if( affinity>=SQLITE_AFF_NUMERIC ){
      if( (flags1|flags3) & MEM_Str ){
        if( (flags1 & (MEM_Int|MEM_IntReal|MEM_Real|MEM_Str))==MEM_Str ){
          applyNumericAffinity(pIn1, 0);
          flags3 = pIn3->flags;
        }
        if( (flags3 & (MEM_Int|MEM_IntReal|MEM_Real|MEM_Str))==MEM_Str ) applyNumericAffinity(pIn3, 0);
      }
    }else if( affinity==SQLITE_AFF_TEXT && ((flags1|flags3) & MEM_Str) ){
      if( flags1 & MEM_Str ){
        pIn1->flags &= ~(MEM_Int|MEM_Real|MEM_IntReal);
      }else if( flags1 & (MEM_Int|MEM_Real|MEM_IntReal) ){
        sqlite3VdbeMemStringify(pIn1, SQLITE_UTF8, 1);
        flags1 = (pIn1->flags & ~MEM_TypeMask) | (flags1 & MEM_TypeMask);
        if( pIn1==pIn3 ) flags3 = flags1 | MEM_Str;
      }
      if( flags3 & MEM_Str ){
        pIn3->flags &= ~(MEM_Int|MEM_Real|MEM_IntReal);
      }else if( flags3 & (MEM_Int|MEM_Real|MEM_IntReal) ){
        sqlite3VdbeMemStringify(pIn3, SQLITE_UTF8, 1);
        flags3 = (pIn3->flags & ~MEM_TypeMask) | (flags3 & MEM_TypeMask);
      }
    }
    res = sqlite3MemCompare(pIn3, pIn1, pOp->p4.pColl);
  }
  pIn3->flags = flags3;
  pIn1->flags = flags1;
  return res<0 ? sqlite3aLTb[pOp->opcode] : res==0 ? sqlite3aEQb[pOp->opcode] : sqlite3aGTb[pOp->opcode];
}

static int rpCompareIntegers(u8 opcode, i64 a, i64 b){
  return a<b ? sqlite3aLTb[opcode] : a==b ? sqlite3aEQb[opcode] : sqlite3aGTb[opcode];
}

/* Executes OP_Add...OP_Remainder. */
RP_MEDIUM static void rpArithmetic(u8 opcode, Mem *pIn1, Mem *pIn2, Mem *pOut){
  u16 type1 = pIn1->flags, type2 = pIn2->flags;
  i64 iA, iB;
  double rA, rB;
  int bInt = (type1 & type2 & MEM_Int)!=0;
  if( !bInt ){
    if( (type1|type2) & MEM_Null ) goto result_is_null;
    type1 = numericType(pIn1);
    type2 = numericType(pIn2);
    bInt = (type1 & type2 & MEM_Int)!=0;
  }
  if( bInt ){
    int bOverflow = 0;
    iA = pIn1->u.i;
    iB = pIn2->u.i;
    switch( opcode ){
      case OP_Add:       bOverflow = sqlite3AddInt64(&iB, iA); break;
      case OP_Subtract:  bOverflow = sqlite3SubInt64(&iB, iA); break;
      case OP_Multiply:  bOverflow = sqlite3MulInt64(&iB, iA); break;
      case OP_Divide:
        if( iA==0 ) goto result_is_null;
        if( iA==-1 && iB==SMALLEST_INT64 ) bOverflow = 1; else iB /= iA;
        break;
      default:
        if( iA==0 ) goto result_is_null;
        if( iA==-1 ) iA = 1;
        iB %= iA;
    }
    if( !bOverflow ){
      pOut->u.i = iB;
      MemSetTypeFlag(pOut, MEM_Int);
      return;
    }
  }
  rA = sqlite3VdbeRealValue(pIn1);
  rB = sqlite3VdbeRealValue(pIn2);
  switch( opcode ){
    case OP_Add:       rB += rA; break;
    case OP_Subtract:  rB -= rA; break;
    case OP_Multiply:  rB *= rA; break;
    case OP_Divide:
      if( rA==(double)0 ) goto result_is_null;
      rB /= rA;
      break;
    default:
      iA = sqlite3VdbeIntValue(pIn1);
      iB = sqlite3VdbeIntValue(pIn2);
      if( iA==0 ) goto result_is_null;
      if( iA==-1 ) iA = 1;
      rB = (double)(iB % iA);
  }
  if( sqlite3IsNaN(rB) ) goto result_is_null;
  pOut->u.r = rB;
  MemSetTypeFlag(pOut, MEM_Real);
  return;

result_is_null:
  sqlite3VdbeMemSetNull(pOut);
}

/* Executes OP_Function and OP_PureFunc. */
RP_MEDIUM static int rpFunction(Vdbe *p, Op *pOp, Mem *pOut){
  sqlite3_context *pCtx = pOp->p4.pCtx;
  int i, rc = SQLITE_OK;
  if( pCtx->pOut!=pOut ){
    pCtx->pVdbe = p;
    pCtx->pOut = pOut;
    pCtx->enc = SQLITE_UTF8;
    for(i=pCtx->argc-1; i>=0; i--) pCtx->argv[i] = &p->aMem[pOp->p2+i];
  }
  MemSetTypeFlag(pOut, MEM_Null);
  pCtx->pFunc->xSFunc(pCtx, pCtx->argc, pCtx->argv);
  if( pCtx->isError ){
    if( pCtx->isError>0 ){
      sqlite3VdbeError(p, "%s", sqlite3_value_text(pOut));
      rc = pCtx->isError;
    }
    sqlite3VdbeDeleteAuxData(p->db, &p->pAuxData, pCtx->iOp, pOp->p1);
    pCtx->isError = 0;
  }
  return rc;
}

/*
** Executes text LIKE '%word%' for a word of ASCII letters: returns whether the text contains the word, up to a NUL.
** Returns 2 if likeFunc() is needed, for another pattern or for an argument that is not text.
*/
static int rpLike(Mem *pPattern, Mem *pText){
  u8 aWord[64];
  u32 nWord;
  if( (pText->flags & (MEM_Str|MEM_Int|MEM_Real|MEM_IntReal))!=MEM_Str || (nWord = (u32)rpLikeWord(pPattern, aWord))==0 ) return 2;
  return rpContains((const u8*)pText->z, (u32)pText->n, aWord, nWord, 0, RP_ONES*(aWord[0]|0x20));
}

/* Executes OP_AggStep1. */
RP_MEDIUM static int rpStep(Vdbe *p, Op *pOp){
  sqlite3_context *pCtx = pOp->p4.pCtx;
  Mem *pMem = &p->aMem[pOp->p3];
  int i, rc = SQLITE_OK;
  if( pCtx->pMem!=pMem ){
    pCtx->pMem = pMem;
    for(i=pCtx->argc-1; i>=0; i--) pCtx->argv[i] = &p->aMem[pOp->p2+i];
  }
#ifdef SQLITE_DEBUG
  pMem->uTemp = 0x1122e0e3;
#endif
  pMem->n++;
  pCtx->pFunc->xSFunc(pCtx, pCtx->argc, pCtx->argv);
  if( pCtx->isError ){
    if( pCtx->isError>0 ){
      sqlite3VdbeError(p, "%s", sqlite3_value_text(pCtx->pOut));
      rc = pCtx->isError;
    }
    /* No register records a skipped accumulator: an OP_CollSeq that names one is not translated. */
    pCtx->skipFlag = 0;
    sqlite3VdbeMemRelease(pCtx->pOut);
    pCtx->pOut->flags = MEM_Null;
    pCtx->isError = 0;
  }
  return rc;
}

/* Like sumStep(): sum(), total() and avg(). */
static SQLITE_INLINE void rpKahan(SumCtx *p, double r){
  double s = p->rSum, t = s + r;
  p->rErr += fabs(s)>fabs(r) ? (s - t) + r : (r - t) + s;
  p->rSum = t;
}
static void rpSumInteger(SumCtx *p, i64 i){
  i64 iSum = p->iSum;
  p->cnt++;
  if( p->approx ){
    kahanBabuskaNeumaierStepInt64(p, i);
  }else if( sqlite3AddInt64(&iSum, i)==0 ){
    p->iSum = iSum;
  }else{
    p->ovrfl = 1;
    kahanBabuskaNeumaierInit(p, p->iSum);
    p->approx = 1;
    kahanBabuskaNeumaierStepInt64(p, i);
  }
}
static void rpSum(SumCtx *p, Mem *pMem){
  int eType;
  if( pMem->flags & MEM_Int ){
    rpSumInteger(p, pMem->u.i);
    return;
  }
  eType = (pMem->flags & (MEM_Real|MEM_Str))==MEM_Real ? SQLITE_FLOAT : sqlite3_value_numeric_type(pMem);
  if( eType==SQLITE_NULL ) return;
  if( eType==SQLITE_INTEGER ){
    rpSumInteger(p, sqlite3_value_int64(pMem));
    return;
  }
  p->cnt++;
  if( p->approx ){
    p->ovrfl = 0;
  }else{
    kahanBabuskaNeumaierInit(p, p->iSum);
    p->approx = 1;
  }
  rpKahan(p, eType==SQLITE_FLOAT && (pMem->flags & MEM_Real) ? pMem->u.r : sqlite3_value_double(pMem));
}

/* ---------------------------------------------------------------- Groups */

RP_SMALL static void rpFreeGroups(RpScan *s){
  u32 i, k;
  for(i=0; i<s->nSlot; i++){
    RpGroup *g = s->apSlot[i];
    if( g==0 ) continue;
    for(k=0; k<s->nInsn; k++){
      if( s->aInsn[k].eCode==RP_GROUP_BEST ) sqlite3VdbeMemRelease((Mem*)((u8*)g + s->aInsn[k].iColumn));
    }
  }
  while( s->pChunk ){
    RpArea *pNext = s->pChunk->pNext;
    sqlite3_free(s->pChunk);
    s->pChunk = pNext;
  }
  sqlite3_free(s->apSlot);
  s->apSlot = 0;
  s->nSlot = s->nGroup = s->nChunkUsed = s->nChunkAlloc = 0;
  s->nBytes = 0;
  s->pGroup = 0;
  s->eGroup = RP_NOT_STARTED;
  rpForgetRecent(s);
}

RP_SMALL static void *rpAllocate(RpScan *s, u32 n){
  void *pNew;
  n = (n+7)&~(u32)7;
  if( s->nChunkUsed+n>s->nChunkAlloc ){
    u32 nAlloc = MAX(n, s->nBytes<65536 ? 4096 : 65536);
    RpArea *pChunk = sqlite3_malloc64(sizeof(RpArea)+nAlloc);
    if( pChunk==0 ) return 0;
    pChunk->pNext = s->pChunk;
    s->pChunk = pChunk;
    s->nChunkUsed = 0;
    s->nChunkAlloc = nAlloc;
    s->nBytes += nAlloc;
  }
  pNew = (u8*)&s->pChunk[1] + s->nChunkUsed;
  s->nChunkUsed += n;
  return pNew;
}

/* Makes a key of a value. Returns 1 if SQLite must group instead. */
static int rpKeyOf(Mem *pMem, RpKey *pKey, u8 bNoCase, u8 bSame){
  u16 f = pMem->flags;
  pKey->n = 0;
  pKey->u.i = 0;
  if( f & MEM_Null ){
    pKey->eType = SQLITE_NULL;
  }else if( f & (MEM_IntReal|MEM_Zero) ){
    return 1;
  }else if( f & MEM_Int ){
    pKey->eType = SQLITE_INTEGER;
    pKey->u.i = pMem->u.i;
  }else if( f & MEM_Real ){
    double r = pMem->u.r;
    if( r>=-9223372036854775808.0 && r<9223372036854775808.0 && (double)(i64)r==r ){
      if( bSame ) return 1;
      pKey->eType = SQLITE_INTEGER;
      pKey->u.i = (i64)r;
    }else{
      pKey->eType = SQLITE_FLOAT;
      pKey->u.r = r;
    }
  }else{
    pKey->eType = (f & MEM_Str) ? SQLITE_TEXT : SQLITE_BLOB;
    pKey->n = (u32)pMem->n;
    pKey->u.z = (const u8*)pMem->z;
    /* NOCASE compares only up to a NUL. */
    if( bNoCase && (f & MEM_Str) && pKey->n && memchr(pMem->z, 0, pKey->n) ) return 1;
  }
  return 0;
}

static SQLITE_INLINE u64 rpMix(u64 h, u64 x){
  h = (h ^ x) * 0x9E3779B97F4A7C15ULL;
  return h ^ (h>>32);
}
static u32 rpHashOfKey(u64 h, const RpKey *pKey, u8 bNoCase){
  h = rpMix(h, pKey->eType);
  if( pKey->eType!=SQLITE_TEXT && pKey->eType!=SQLITE_BLOB ){
    h = rpMix(h, (u64)pKey->u.i);
  }else if( bNoCase && pKey->eType==SQLITE_TEXT ){
    u32 i;
    for(i=0; i<pKey->n; i++) h = rpMix(h, sqlite3UpperToLower[pKey->u.z[i]]);
  }else{
    u32 i;
    u64 x;
    for(i=0; i+8<=pKey->n; i+=8){
      memcpy(&x, &pKey->u.z[i], 8);
      h = rpMix(h, x);
    }
    for(x=0; i<pKey->n; i++) x = x<<8 | pKey->u.z[i];
    h = rpMix(h, x + pKey->n);
  }
  return (u32)(h>>16);
}
static int rpIsSameKey(const RpKey *a, const RpKey *b, u8 bNoCase){
  if( a->eType!=b->eType || a->n!=b->n ) return 0;
  if( a->eType==SQLITE_INTEGER ) return a->u.i==b->u.i;
  if( a->eType==SQLITE_NULL ) return 1;
  if( a->eType==SQLITE_FLOAT ) return a->u.r==b->u.r;
  if( a->n==0 ) return 1;
  if( bNoCase && a->eType==SQLITE_TEXT ) return sqlite3StrNICmp((const char*)a->u.z, (const char*)b->u.z, (int)a->n)==0;
  return memcmp(a->u.z, b->u.z, a->n)==0;
}

/* Finds the group of keys with their hash. */
static RpGroup *rpLookUp(RpScan *s, RpKey *aKey, u32 iHash){
  u32 i, iSlot;
  if( s->nSlot==0 ) return 0;
  for(iSlot=iHash&(s->nSlot-1); s->apSlot[iSlot]; iSlot=(iSlot+1)&(s->nSlot-1)){
    RpGroup *g = s->apSlot[iSlot];
    if( g->iHash!=iHash ) continue;
    for(i=0; i<s->nKey && rpIsSameKey(&RP_KEYS(g)[i], &aKey[i], s->aNoCase[i]); i++){}
    if( i==s->nKey ) return g;
  }
  return 0;
}
/* Finds the group of the keys in nKey registers. Returns 0 if there is none; rpAddGroup() takes *piHash. */
static RpGroup *rpFindGroup(RpScan *s, Mem *aMem, RpKey *aKey, u32 *piHash, int *pbDoubt){
  u32 i, iHash = 0;
  for(i=0; i<s->nKey; i++){
    if( rpKeyOf(&aMem[i], &aKey[i], s->aNoCase[i], s->bSameKeys) ){
      *pbDoubt = 1;
      return 0;
    }
    iHash = rpHashOfKey(iHash, &aKey[i], s->aNoCase[i]);
  }
  *piHash = iHash;
  return rpLookUp(s, aKey, iHash);
}

RP_SMALL static RpGroup *rpAddGroup(RpScan *s, RpKey *aKey, u32 iHash){
  u32 i, iSlot;
  RpGroup *g;
  if( (s->nGroup+1)*2>s->nSlot ){
    u32 nSlot = s->nSlot ? s->nSlot*2 : 64;
    RpGroup **apSlot = sqlite3_malloc64((u64)nSlot*sizeof(RpGroup*));
    if( apSlot==0 ) return 0;
    memset(apSlot, 0, nSlot*sizeof(RpGroup*));
    for(i=0; i<s->nSlot; i++){
      if( s->apSlot[i]==0 ) continue;
      for(iSlot=s->apSlot[i]->iHash&(nSlot-1); apSlot[iSlot]; iSlot=(iSlot+1)&(nSlot-1)){}
      apSlot[iSlot] = s->apSlot[i];
    }
    sqlite3_free(s->apSlot);
    s->apSlot = apSlot;
    s->nBytes += (u64)(nSlot - s->nSlot)*sizeof(RpGroup*);
    s->nSlot = nSlot;
  }
  g = rpAllocate(s, s->nState);
  if( g==0 ) return 0;
  memset(g, 0, s->nState);
  g->iHash = iHash;
  for(i=0; i<s->nKey; i++){
    RpKey *pKey = &RP_KEYS(g)[i];
    *pKey = aKey[i];
    if( pKey->n>0 ){
      u8 *a = rpAllocate(s, pKey->n);
      if( a==0 ) return 0;
      memcpy(a, aKey[i].u.z, pKey->n);
      pKey->u.z = a;
    }
  }
  for(iSlot=iHash&(s->nSlot-1); s->apSlot[iSlot]; iSlot=(iSlot+1)&(s->nSlot-1)){}
  s->apSlot[iSlot] = g;
  s->nGroup++;
  return g;
}

/* Like minmaxStep(). Returns 1 if memory is exhausted. */
static int rpBest(RpScan *s, Mem *pBest, Mem *pArg, const RpInsn *q){
  if( pArg->flags & MEM_Null ) return 0;
  if( pBest->flags==0 ){
    pBest->db = s->pVdbe->db;
  }else{
    int cmp = sqlite3MemCompare(pBest, pArg, q->pOp[-1].p4.pColl);
    if( q->bMax ? cmp>=0 : cmp<=0 ) return 0;
  }
  s->nBytes -= pBest->flags ? pBest->szMalloc : 0;
  if( sqlite3VdbeMemCopy(pBest, pArg) ) return 1;
  s->nBytes += pBest->szMalloc;
  return 0;
}

/* Restarts GROUP BY, with or without a hash. SQLite has only filled its sorter so far. */
RP_SMALL static int rpRestart(RpScan *s, int *pbEmpty){
  Vdbe *p = s->pVdbe;
  VdbeCursor *pC = p->apCsr[s->iCursor];
  BtCursor *pCur = pC->uc.pCursor;
  rpFreeGroups(s);
  sqlite3VdbeSorterReset(p->db, p->apCsr[s->iSorter]->uc.pSorter);
  if( p->aOp[s->iStart].opcode==OP_Rewind ) return sqlite3BtreeFirst(pCur, pbEmpty);
  return s->bIndex ? sqlite3BtreeIndexMoveto(pCur, s->pKept, pbEmpty) : sqlite3BtreeTableMoveto(pCur, pC->iRockpoolFirst, 0, pbEmpty);
}

/* Whether the row at an index of the leaf page is after the end of the range. Moves the cursor to that row. */
RP_SMALL static int rpIsBeyond(RpScan *s, u32 iCell){
  Vdbe *p = s->pVdbe;
  VdbeCursor *pC = p->apCsr[s->iCursor];
  BtCursor *pCur = pC->uc.pCursor;
  Op *pOp = s->pEnd;
  int res = 0;
  pCur->ix = (u16)iCell;
  rpUnposition(pCur);
  if( s->bIndex ){
    UnpackedRecord r;
    memset(&r, 0, sizeof(r));
    r.pKeyInfo = pC->pKeyInfo;
    r.nField = (u16)pOp->p4.i;
    r.aMem = &p->aMem[pOp->p3];
    r.default_rc = pOp->opcode==OP_IdxGT ? -1 : 0;
    /* SQLite meets the same error again. */
    return sqlite3VdbeIdxKeyCompare(p->db, pC, &r, &res)!=SQLITE_OK || res>=0;
  }else{
    Mem m;
    sqlite3VdbeMemInit(&m, p->db, MEM_Int);
    m.u.i = sqlite3BtreeIntegerKey(pCur);
    res = rpCompare(pOp, &p->aMem[pOp->p1], &m);
    sqlite3VdbeMemRelease(&m);
    return res;
  }
}
/* The first cell from iCell on that is after the end of the range, or nCell. */
RP_SMALL static u32 rpRangeEnd(RpScan *s, u32 iCell, u32 nCell){
  u32 iFirst = iCell, i = nCell-1, iEnd = nCell;
  while( iFirst<iEnd ){
    if( rpIsBeyond(s, i) ) iEnd = i; else iFirst = i+1;
    i = iFirst + (iEnd-iFirst)/2;
  }
  return iFirst;
}

/* ---------------------------------------------------------------- ORDER BY with LIMIT */

/* Keeps the current record of a cursor on an index. */
RP_SMALL static void rpKeepRecord(RpScan *s, VdbeCursor *pC){
  u32 n = sqlite3BtreePayloadSize(pC->uc.pCursor);
  s->bKept = 0;
  if( s->pKept==0 ){
    s->pKept = sqlite3VdbeAllocUnpackedRecord(pC->pKeyInfo);
    if( s->pKept==0 ) return;
  }
  if( rpCopyRecord(pC->uc.pCursor, n, &s->aKept, &s->nKeptAlloc) ) return;
  s->pKept->nField = MIN(pC->pKeyInfo->nKeyField+1, pC->pKeyInfo->nAllField);
  sqlite3VdbeRecordUnpack((int)n, s->aKept, s->pKept);
  /* A record without a field is damaged, and SQLite must not search for it. */
  s->bKept = s->pKept->nField>0;
}

/* Reads the largest of the rows that SQLite keeps, once their number has reached the limit. */
RP_SMALL static void rpReadWorst(RpScan *s){
  VdbeCursor *pC = s->pVdbe->apCsr[s->pTop->p1];
  int bEmpty = 1;
  s->bKept = 0;
  if( s->pVdbe->aMem[s->pTop[1].p1].u.i!=0 || pC==0 || pC->eCurType!=CURTYPE_BTREE ) return;
  pC->cacheStatus = CACHE_STALE;
  if( sqlite3BtreeLast(pC->uc.pCursor, &bEmpty) || bEmpty ) return;
  rpKeepRecord(s, pC);
}

/* OP_IdxLE: whether no row that is kept is larger than the key in the registers. */
RP_MEDIUM static int rpIsNotBetter(RpScan *s, Mem *aKey){
  KeyInfo *pKeyInfo = s->pKept->pKeyInfo;
  int i;
  for(i=0; i<s->pTop[3].p4.i; i++){
    int cmp = sqlite3MemCompare(&s->pKept->aMem[i], &aKey[i], pKeyInfo->aColl[i]);
    if( cmp ) return (pKeyInfo->aSortFlags[i] & KEYINFO_ORDER_DESC) ? cmp>0 : cmp<0;
  }
  return 1;
}

/* ---------------------------------------------------------------- The loop */

/* Prepares the state that the instructions need each time the scan is entered. */
RP_SMALL static int rpEnter(RpScan *s){
  u32 i;
  s->bStepped = 1;
  for(i=0; i<s->nInsn; i++){
    u8 e = s->aInsn[i].eCode;
    if( e==RP_COUNT || e==RP_SUM || e==RP_STEP ) s->bStepped &= s->aInsn[i].pOp->opcode==OP_AggStep1;
  }
  if( s->nBatchRows==0 ) s->nBatchRows = 8;
  if( s->nLookup ) rpCheckLookups(s);
  if( s->pTop ) rpReadWorst(s);
  return SQLITE_OK;
}

static int rpIsFull(void){
  RpRows *r = rpTaking.pRows;
  return rpTaking.nMost<=1 || r->nTextBytes>=RP_FULL_BYTES || r->nRow*r->nColumn>=RP_FULL_CELLS;
}

/* Appends a row to the result. Returns 1 if SQLite must return the row. */
static int rpAppendResult(RpScan *s, const RpInsn *q){
  RpRows *r = rpTaking.pRows;
  Mem *aMem = q->p1;
  u32 i;
  if( rpTaking.pVdbe!=s->pVdbe || rpTaking.rc || rpIsFull() ) return 1;
  if( q->p2 && q->p2->u.i<=1 && q->p2->u.i>=0 ) return 1;
  if( r->nRow>=r->nRowAlloc && (rpTaking.rc = rpGrowRows(r))!=SQLITE_OK ) return 1;
  for(i=0; i<r->nColumn; i++){
    if( (aMem[i].flags & MEM_Zero) && (aMem[i].flags & MEM_Blob) && sqlite3VdbeMemExpandBlob(&aMem[i]) ) return 1;
  }
  for(i=0; i<r->nColumn; i++){
    rpTaking.rc = rpAppend(r, &r->aColumn[i], &aMem[i], (sqlite3_stmt*)s->pVdbe, (int)i);
    if( rpTaking.rc ) return 1;
  }
  r->nRow++;
  rpTaking.nMost--;
  if( q->p2 && q->p2->u.i>SMALLEST_INT64 ) q->p2->u.i--;
  return 0;
}

/* The state of an aggregate of the current group. */
#define RP_STATE(q) ((void*)((u8*)s->pGroup + (q)->iColumn))

/* Copy the parse state to local variables, and back. */
#define RP_RELOAD { aRow = s->aRow; nLocal = s->nLocal; z = s->pHeader; pHeaderEnd = s->pHeaderEnd; nParsed = s->nParsed; nPayload = s->nPayload; }
#define RP_SPILL { s->aRow = aRow; s->nLocal = nLocal; s->pHeader = z; s->pHeaderEnd = pHeaderEnd; s->nParsed = nParsed; s->nPayload = nPayload; }

/* Parses the types of the first n columns: rpParse() without calls for types of one byte. */
#define RP_PARSE(n) { \
  u32 iOffset = aOffset[nParsed]; \
  while( nParsed<(n) && z<pHeaderEnd && *z<0x80 ){ \
    aType[nParsed] = *z; \
    iOffset += sqlite3SmallTypeSizes[*z++]; \
    aOffset[++nParsed] = iOffset; \
  } \
  if( iOffset>nLocal || (nParsed<(n) && z<pHeaderEnd) || (z>=pHeaderEnd && iOffset!=nPayload) ){ \
    pCur->ix = (u16)iCell; \
    RP_SPILL \
    if( rpParse(s, (n)) ) goto doubt; \
    RP_RELOAD \
  } \
}

/*
** Executes n rows of the cursor's leaf page: those from iFirst on, or those that aSel selects. Afterwards, the cursor is
** on the row to which the return value refers.
** It is one function, because an instruction takes a few machine instructions, and calls would cost more than those.
*/
static SQLITE_NOINLINE int rpRunRows(RpScan *s, int iFirst, const u8 *aSel, u32 n){
  Vdbe *p = s->pVdbe;
  BtCursor *pCur = p->apCsr[s->iCursor]->uc.pCursor;
  MemPage *pPage = pCur->pPage;
  u8 *aData = pPage->aData, *aCellIdx = pPage->aCellIdx;
  const u8 *aDataEnd = pPage->aDataEnd;
  u32 maskPage = pPage->maskPage, maxLocal = pPage->maxLocal;
  u32 *aType = s->aType, *aOffset = s->aOffset;
  u32 iRow, nChild = pPage->leaf ? 0 : 4;
  int iCell = iFirst, rc, bNewGroup = 0, bTable = !s->bIndex;
  for(iRow=0; iRow<n; iRow++){
    const RpInsn *q = s->aInsn;
    const u8 *pRowid, *z, *aRow, *pHeaderEnd;
    u32 nPayload, nLocal, nParsed = 0;
    u8 *pCell;
    iCell = iFirst + (int)(aSel ? aSel[iRow] : iRow);
    pCell = &aData[maskPage & get2byteAligned(&aCellIdx[2*iCell])];
    /* Most rows fit their page and have a header of less than 128 bytes. */
    z = &pCell[nChild];
    nPayload = *z++;
    if( nPayload>=0x80 ) z += sqlite3GetVarint32(z-1, &nPayload) - 1;
    pRowid = z;
    if( bTable ){
      while( *z>=0x80 && z<&pRowid[8] ) z++;
      z++;
    }
    aRow = z;
    nLocal = nPayload;
    if( nPayload<=maxLocal && nPayload>=2 && aRow<aDataEnd && nPayload<=(u32)(aDataEnd-aRow) && *aRow<0x80 && *aRow>0 && *aRow<=nPayload ){
      aOffset[0] = *z++;
      pHeaderEnd = &aRow[aOffset[0]];
    }else{
      pCur->ix = (u16)iCell;
      if( rpBeginLargeRow(s, pPage, pCell, aRow, nPayload) ) goto doubt;
      RP_RELOAD
    }
    for(;;){
      switch( q->eCode ){
        case RP_DONE:
          goto next_row;
        case RP_STAY: case RP_EXIT:
          goto stays;
        case RP_GATE:
          if( !s->bStepped ) goto stays;
          if( q->iColumn>nParsed ) RP_PARSE(q->iColumn)
          break;
        case RP_COLUMN: {
          u32 i = q->iColumn;
          if( i>=nParsed ) RP_PARSE(i+1)
          if( i<nParsed ){
            rpLoad(q->p3, aType[i], &aRow[aOffset[i]]);
          }else if( q->pOp->p4type==P4_MEM ){
            sqlite3VdbeMemShallowCopy(q->p3, q->pOp->p4.pMem, MEM_Static);
          }else{
            sqlite3VdbeMemSetNull(q->p3);
          }
          /* Executes the most frequent successors of a column without another dispatch. */
          if( q[1].eCode==RP_SUM ){
            q++;
            goto sum;
          }
          if( q[1].eCode==RP_COMPARE ){
            q++;
            goto compare;
          }
          break;
        }
        case RP_ROWID:
          RP_WRITABLE(q->p3);
          sqlite3GetVarint(pRowid, (u64*)&q->p3->u.i);
          q->p3->flags = MEM_Int;
          break;
        case RP_REAL:
          if( q->p1->flags & (MEM_Int|MEM_IntReal) ) sqlite3VdbeMemRealify(q->p1);
          break;
        case RP_COPY:
          if( (q->p1->flags & (MEM_Str|MEM_Blob)) && ((q->p1->flags & (MEM_Ephem|MEM_Static))==0 || (s->nLookup && q->pOp->opcode==OP_Copy)) ){
            if( sqlite3VdbeMemCopy(q->p3, q->p1) ) return SQLITE_NOMEM_BKPT;
          }else{
            sqlite3VdbeMemShallowCopy(q->p3, q->p1, MEM_Ephem);
          }
          if( q->iColumn ) q->p3->flags &= ~MEM_Subtype;
          break;
        case RP_GROUP_COLUMN:
          /* A record contains neither of these forms. */
          if( q->p1->flags & (MEM_IntReal|MEM_Zero) ) goto doubt;
          sqlite3VdbeMemShallowCopy(q->p3, q->p1, MEM_Ephem);
          q->p3->flags &= ~MEM_Subtype;
          break;
        case RP_INTEGER:
          sqlite3VdbeMemSetInt64(q->p3, q->pOp->opcode==OP_Int64 ? INT32_TO_64(q->pOp->p1, q->pOp->p3) : q->pOp->p1);
          break;
        case RP_SETNULL:
          sqlite3VdbeMemSetNull(q->p3);
          break;
        case RP_CAST:
          rc = ExpandBlob(q->p1);
          if( rc==SQLITE_OK ) rc = sqlite3VdbeMemCast(q->p1, (u8)q->pOp->p2, SQLITE_UTF8);
          if( rc ) return rc;
          break;
        case RP_COMPARE:
        compare: {
          Mem *a = q->p3, *b = q->p1;
          int bJump;
          if( a->flags & b->flags & MEM_Int ){
            bJump = rpCompareIntegers(q->pOp->opcode, a->u.i, b->u.i);
          }else if( (a->flags & (MEM_Real|MEM_Str|MEM_Int|MEM_Null))==MEM_Real && (b->flags & (MEM_Real|MEM_Str|MEM_Int|MEM_Null))==MEM_Real ){
            bJump = a->u.r<b->u.r ? sqlite3aLTb[q->pOp->opcode] : a->u.r==b->u.r ? sqlite3aEQb[q->pOp->opcode] : sqlite3aGTb[q->pOp->opcode];
          }else{
            bJump = rpCompare(q->pOp, b, a);
          }
          if( bJump ) goto jump;
          break;
        }
        case RP_ISNULL:
          if( q->p1->flags & MEM_Null ) goto jump;
          break;
        case RP_NOTNULL:
          if( (q->p1->flags & MEM_Null)==0 ) goto jump;
          break;
        case RP_IF:
          if( sqlite3VdbeBooleanValue(q->p1, q->pOp->p3) ) goto jump;
          break;
        case RP_IFNOT:
          if( !sqlite3VdbeBooleanValue(q->p1, !q->pOp->p3) ) goto jump;
          break;
        case RP_GOTO:
          goto jump;
        case RP_ONCE:
          if( p->aOp[0].p1!=q->pOp->p1 ) goto stays;
          goto jump;
        case RP_OFFSET:
          if( q->p1->u.i>0 ){
            q->p1->u.i -= q->pOp->p3;
            goto next_row;
          }
          break;
        case RP_ARITHMETIC:
          rpArithmetic(q->pOp->opcode, q->p1, q->p2, q->p3);
          break;
        case RP_LOGIC: {
          static const u8 aAnd[] = { 0, 0, 0, 0, 1, 2, 0, 2, 2 }, aOr[] = { 0, 1, 2, 1, 1, 1, 2, 1, 2 };
          int i = sqlite3VdbeBooleanValue(q->p1, 2)*3 + sqlite3VdbeBooleanValue(q->p2, 2);
          i = q->pOp->opcode==OP_And ? aAnd[i] : aOr[i];
          if( i==2 ){
            MemSetTypeFlag(q->p3, MEM_Null);
          }else{
            q->p3->u.i = i;
            MemSetTypeFlag(q->p3, MEM_Int);
          }
          break;
        }
        case RP_NOT:
          if( q->p1->flags & MEM_Null ) sqlite3VdbeMemSetNull(q->p3);
          else sqlite3VdbeMemSetInt64(q->p3, !sqlite3VdbeBooleanValue(q->p1, 0));
          break;
        case RP_LIKE: {
          int i = rpLike(q->p1, &q->p1[1]);
          if( i<2 ){
            sqlite3VdbeMemSetInt64(q->p3, i);
            break;
          }
          rc = rpFunction(p, q->pOp, q->p3);
          if( rc ) return rc;
          break;
        }
        case RP_FUNCTION:
          rc = rpFunction(p, q->pOp, q->p3);
          if( rc ) return rc;
          break;
        case RP_COUNT:
          if( (q->p3->flags & MEM_Agg)==0 ){
            rc = rpStep(p, q->pOp);
            if( rc ) return rc;
          }else{
            q->p3->n++;
            if( q->p1==0 || (q->p1->flags & MEM_Null)==0 ) ((CountCtx*)q->p3->z)->n++;
          }
          break;
        case RP_SUM:
        sum:
          if( q->p3->flags & MEM_Agg ){
            SumCtx *pSum = (SumCtx*)q->p3->z;
            q->p3->n++;
            if( (q->p1->flags & MEM_Int) && pSum->approx==0 ){
              i64 iSum = (i64)((u64)pSum->iSum + (u64)q->p1->u.i);
              if( ((pSum->iSum ^ iSum) & (q->p1->u.i ^ iSum))>=0 ){
                pSum->cnt++;
                pSum->iSum = iSum;
                break;
              }
            }
            rpSum(pSum, q->p1);
            break;
          }
          /* fall through */
        case RP_STEP:
          rc = rpStep(p, q->pOp);
          if( rc ) return rc;
          break;
        case RP_GROUP: {
          RpKey aKey[RP_MAX_KEYS];
          u32 iHash;
          int bDoubt = 0;
          s->pGroup = rpFindGroup(s, q->p1, aKey, &iHash, &bDoubt);
          if( bDoubt ) goto doubt;
          bNewGroup = s->pGroup==0;
          if( bNewGroup ){
            if( rpScanMode==1 && s->nGroup>=4096 && (u64)s->nGroup*3>s->nRow ) return RP_GIVE_UP;
            s->pGroup = rpAddGroup(s, aKey, iHash);
            if( s->pGroup==0 ) return RP_GIVE_UP;
          }
          if( s->nBytes>rpGroupBytes ) return RP_GIVE_UP;
          break;
        }
        case RP_GROUP_COUNT:
          if( q->p1==0 || (q->p1->flags & MEM_Null)==0 ) (*(i64*)RP_STATE(q))++;
          break;
        case RP_GROUP_SUM:
          rpSum(RP_STATE(q), q->p1);
          break;
        case RP_GROUP_BEST:
          if( rpBest(s, RP_STATE(q), q->p1, q) ) return RP_GIVE_UP;
          break;
        case RP_RESULT:
          if( rpAppendResult(s, q) ) goto stays;
          break;
        case RP_TOP:
          if( !s->bKept || !rpIsNotBetter(s, q->p1) ) goto stays;
          q->p3->u.i = p->apCsr[q->pOp->p1]->seqCount++;
          goto next_row;
        case RP_SEEK: {
          RpLookup *pLookup = &s->aLookup[q->iColumn];
          rc = rpSeek(s, pLookup, q->p1);
          if( rc==RP_ROW_STAYS ) goto doubt;
          if( rc ) return rc;
          if( pLookup->iLeft==0 ){
            if( pLookup->pRow==0 ) goto jump;
          }else if( pLookup->pRow ){
            q++;
          }
          break;
        }
        case RP_NULLROW:
          s->aLookup[q->iColumn].pRow = 0;
          break;
        case RP_LOOKUP_COLUMN:
          rpLookupColumn(&s->aLookup[q->iColumn & 0xff], q);
          break;
        case RP_LOOKUP_ROWID: {
          const RpLookup *pLookup = &s->aLookup[q->iColumn];
          if( pLookup->pRow ) sqlite3VdbeMemSetInt64(q->p3, rpLookupRowid(pLookup)); else sqlite3VdbeMemSetNull(q->p3);
          break;
        }
      }
      q++;
      continue;
    jump:
      q = &s->aInsn[q->iJump];
    }
  stays:
    pCur->ix = (u16)iCell;
    return s->eGroup==RP_HASHED && q->eCode!=RP_EXIT && !bNewGroup ? RP_GIVE_UP : RP_ROW_STAYS;
  next_row:
    if( bNewGroup ) goto stays;
    if( s->bForget ) rpForgetLookups(s, 0);
    if( aRow==s->aWhole && s->nOut && (rc = rpKeepRegisters(s, pPage))!=SQLITE_OK ) return rc;
  }
  return RP_LEAF_DONE;

doubt:
  pCur->ix = (u16)iCell;
  return s->eGroup==RP_HASHED ? RP_GIVE_UP : RP_ROW_STAYS;
}

/*
** Reads one of every 64 bytes of a page, so that the processor loads the whole page at once. Otherwise it would wait for
** memory at nearly every row, because the place of a row's bytes depends on the bytes before them. Pages with few, large
** rows are not read ahead, because most of their bytes may not be needed.
*/
static void rpReadAhead(RpScan *s, MemPage *pPage){
  u32 i, n = pPage->pBt->pageSize, x = 0;
  for(i=0; i<n; i+=64) x |= pPage->aData[i];
  s->iTouched = x;
}

/*
** Executes rows from the cursor to the end of its leaf page or of the range. Afterwards, the cursor is on the row to
** which the return value refers. An inner page of an index has one row between two leaf pages.
*/
static int rpRunLeaf(RpScan *s){
  BtCursor *pCur = s->pVdbe->apCsr[s->iCursor]->uc.pCursor;
  u32 iCell = pCur->ix, nCell = pCur->pPage->leaf ? pCur->pPage->nCell : iCell+1, iEnd = nCell, n, nDone, nSel;
  int rc;
  if( s->pEnd ){
    nCell = rpRangeEnd(s, iCell, nCell);
    pCur->ix = (u16)iCell;
  }
  if( iCell==0 && nCell*RP_LARGE_ROW>pCur->pPage->pBt->pageSize && !(s->pBatch && rpIsCountBatch(s->pBatch)) ) rpReadAhead(s, pCur->pPage);
  for(; iCell<nCell; iCell+=n){
    n = nCell-iCell;
    if( s->pBatch && n>1 && s->nRefused*4<=s->nBatched+64 ){
      n = MIN(n, s->nBatchRows);
      nDone = (u32)rpBatch(s, iCell, n, &nSel);
      s->nBatched += nDone;
      rpBatched += nDone-nSel;
      if( s->bNoMemory ) return RP_GIVE_UP;
      if( nSel>0 && (rc = rpRunRows(s, (int)iCell, rpBatchRows(), nSel))!=RP_LEAF_DONE ){
        s->nRow += (u32)pCur->ix-iCell+1;
        return rc;
      }
      /* Rows that pass the filter run through it twice. */
      s->nRefused += nSel*5/8;
      s->nRow += nDone;
      iCell += nDone;
      if( nDone==n ){
        s->nBatchRows = MIN(s->nBatchRows*2, 64);
        n = 0;
        continue;
      }
      s->nBatchRows = MAX(nDone, 8);
      s->nRefused++;
      n = 1;
    }
    rc = rpRunRows(s, (int)iCell, 0, n);
    if( rc!=RP_LEAF_DONE ){
      /* Only the first row of a group ends a batch. */
      if( rc==RP_ROW_STAYS && s->eGroup==RP_HASHED && s->nRefused>0 ) s->nRefused--;
      s->nRow += (u32)pCur->ix-iCell+1;
      return rc;
    }
    s->nRow += n;
    /* Rows in another part of the table may behave differently. */
    s->nBatched += n/16;
  }
  if( nCell==iEnd ) return RP_LEAF_DONE;
  /* SQLite ends the loop. If few rows were left for the scan, SQLite executes more of the next range first. */
  if( s->nRow<RP_RANGE_WAIT/2 && s->nNextWait<RP_RANGE_WAIT*8 ) s->nNextWait = MAX(s->nNextWait*2, RP_RANGE_WAIT*2);
  else if( s->nRow>RP_RANGE_WAIT*8 ) s->nNextWait = 0;
  pCur->ix = (u16)nCell;
  return RP_ROW_STAYS;
}

/* Executes rows from the cursor on. Returns like sqlite3BtreeNext(): SQLITE_OK on a row for SQLite, or SQLITE_DONE. */
static int rpRun(RpScan *s){
  Vdbe *p = s->pVdbe;
  VdbeCursor *pC = p->apCsr[s->iCursor];
  BtCursor *pCur = pC->uc.pCursor;
  u32 nSteps = 0;
  int rc, bEmpty = 0;
  if( s->iSorter>=0 && s->eGroup==RP_NOT_STARTED ){
    if( s->bIndex && p->aOp[s->iStart].opcode!=OP_Rewind && !s->bKept ){
      /* The start of the range is unknown, because the statement was not translated when the range began. */
      s->bOff = 1;
      return SQLITE_OK;
    }
    rc = rpRestart(s, &bEmpty);
    if( rc || bEmpty ) return rc ? rc : SQLITE_CORRUPT_BKPT;
    s->eGroup = RP_HASHED;
  }
  rpEnter(s);
  for(;;){
    MemPage *pPage = pCur->pPage;
    if( pCur->eState!=CURSOR_VALID || pPage->intKey==s->bIndex || (pPage->intKey && !pPage->intKeyLeaf) ){
      rc = RP_ROW_STAYS;
      if( s->eGroup==RP_HASHED ) rc = RP_GIVE_UP;
    }else{
      nSteps -= s->nRow;
      rc = rpRunLeaf(s);
      nSteps += s->nRow;
      rpUnposition(pCur);
      if( s->nOut ){
        int rcKeep = rpKeepRegisters(s, pPage);
        if( rcKeep ) rc = rcKeep;
      }
    }
    if( rc==RP_LEAF_DONE ){
      if( pPage->leaf ) pCur->ix = pPage->nCell-1;
      rc = sqlite3BtreeNext(pCur, 0);
      if( rc==SQLITE_OK && AtomicLoad(&p->db->u1.isInterrupted)==0 ) continue;
    }else if( rc==RP_ROW_STAYS ){
      rc = SQLITE_OK;
      s->nStayed++;
      if( rpScanMode==1 && s->eGroup!=RP_HASHED && s->nStayed>=RP_MOST_STAYING && (u64)s->nStayed*4>s->nRow ){
        s->wait.nRow = s->nNextWait = MIN(MAX(s->nNextWait*2, 64), RP_MOST_WAITING);
        s->nRow = s->nStayed = 0;
      }
    }else if( rc==RP_GIVE_UP ){
      rc = rpRestart(s, &bEmpty);
      s->eGroup = RP_GAVE_UP;
      s->bOff = 1;
    }
    break;
  }
  pC->cacheStatus = CACHE_STALE;
  p->aCounter[SQLITE_STMTSTATUS_FULLSCAN_STEP] += nSteps;
  return rc;
}

/* ---------------------------------------------------------------- Translation */

#ifdef __EMSCRIPTEN__
/* This code runs once per statement, so it is optimised for size. */
#pragma clang attribute push(__attribute__((minsize)), apply_to = function)
#endif

/* The state of rpTranslate() for the instructions between two addresses. */
typedef struct RpBody RpBody;
struct RpBody {
  RpScan *s;
  int iFrom, iTo;           /* iTo: the address that a complete row jumps to */
  int bSecond;              /* The second loop of GROUP BY: it uses aTemp, and a pseudo cursor reads the record */
  u32 iFirst;               /* Index of the first translated instruction */
  u32 *aiInsn;              /* Index of the translation by address - iFrom */
  u8 *aUse;                 /* By register: RP_WRITTEN, or RP_READ if it is read before it is written */
  int bCarried;             /* A carried register was written since the last instruction */
  int bFailed;
};

enum { RP_READ = 1, RP_WRITTEN };

static RpInsn *rpEmit(RpScan *s, u8 eCode, Op *pOp){
  RpInsn *q;
  if( s->nInsn>=s->nInsnAlloc ){
    u32 n = s->nInsnAlloc ? s->nInsnAlloc*2 : 32;
    RpInsn *a = sqlite3_realloc64(s->aInsn, (u64)n*sizeof(RpInsn));
    if( a==0 ) return 0;
    s->aInsn = a;
    s->nInsnAlloc = n;
  }
  q = &s->aInsn[s->nInsn++];
  memset(q, 0, sizeof(*q));
  q->eCode = eCode;
  q->iJump = RP_NO_JUMP;
  q->pOp = pOp;
  return q;
}

/* Returns the register or, in the second loop, the one that replaces it. */
static Mem *rpRegister(RpBody *b, int iReg, int bOut){
  RpScan *s = b->s;
  u32 i;
  if( !b->bSecond ){
    if( b->aUse[iReg]==0 ) b->aUse[iReg] = bOut ? RP_WRITTEN : RP_READ;
    else if( bOut && b->aUse[iReg]==RP_READ ) b->bCarried = 1;
    return &s->pVdbe->aMem[iReg];
  }
  for(i=0; i<s->nTemp; i++) if( s->aiTemp[i]==iReg ) return &s->aTemp[i];
  if( !bOut ) return &s->pVdbe->aMem[iReg];
  if( s->nTemp>=16 ){
    b->bFailed = 1;
    return s->aTemp;
  }
  s->aiTemp[s->nTemp] = iReg;
  return &s->aTemp[s->nTemp++];
}

static void rpReads(RpBody *b, int iReg, int n){
  for(; n>0; n--, iReg++) if( iReg>0 && iReg<=b->s->pVdbe->nMem ) rpRegister(b, iReg, 0);
}

/* Records a register that may point into a page. */
static void rpAddOut(RpScan *s, Mem *pMem){
  u32 i;
  for(i=0; i<s->nOut; i++) if( s->apOut[i]==pMem ) return;
  s->apOut[s->nOut++] = pMem;
}

static void rpStays(RpBody *b, Op *pOp){
  if( b->s->iWhyNot==0 ) b->s->iWhyNot = pOp->opcode;
  if( b->bSecond ) b->bFailed = 1;
  /* The instruction may read these registers. */
  rpReads(b, pOp->p1, 1);
  rpReads(b, pOp->p2, 1);
  rpReads(b, pOp->p3, 1);
  rpEmit(b->s, RP_STAY, pOp);
}

/* Translates a step of an aggregate. */
static void rpTranslateStep(RpBody *b, Op *pOp){
  RpScan *s = b->s;
  FuncDef *pFunc = pOp->opcode==OP_AggStep1 ? pOp->p4.pCtx->pFunc : pOp->p4.pFunc;
  RpInsn *q;
  u8 eCode = b->bSecond ? 0 : RP_STEP;
  u32 nState = 0;
  if( pOp->p1 || (pOp[-1].opcode==OP_CollSeq && pOp[-1].p1 && !b->bSecond) ){
    rpStays(b, pOp);
    return;
  }
  if( pFunc->xSFunc==countStep && pOp->p5<=1 ){
    eCode = b->bSecond ? RP_GROUP_COUNT : RP_COUNT;
    nState = sizeof(CountCtx);
  }else if( pFunc->xSFunc==sumStep ){
    eCode = b->bSecond ? RP_GROUP_SUM : RP_SUM;
    nState = sizeof(SumCtx);
  }else if( pFunc->xSFunc==minmaxStep && b->bSecond && pOp[-1].opcode==OP_CollSeq ){
    eCode = RP_GROUP_BEST;
    nState = sizeof(Mem);
  }
  if( eCode==0 ){
    rpStays(b, pOp);
    return;
  }
  q = rpEmit(s, eCode, pOp);
  if( q==0 ) return;
  q->p1 = pOp->p5 ? rpRegister(b, pOp->p2, 0) : 0;
  rpReads(b, pOp->p2, pOp->p5);
  q->p3 = &s->pVdbe->aMem[pOp->p3];
  q->bMax = pFunc->pUserData!=0;
  if( b->bSecond ){
    q->iColumn = s->nState;
    s->nState += (nState+7)&~(u32)7;
  }
}

/* Whether OP_Sequence, OP_IfNotZero, OP_Last and OP_IdxLE follow: ORDER BY with LIMIT decides about the row. */
static int rpIsTop(RpBody *b, Op *pOp, int iAddr){
  int i;
  KeyInfo *pKeyInfo = 0;
  Vdbe *p = b->s->pVdbe;
  if( b->bSecond || b->s->pTop || iAddr+4>b->iTo ) return 0;
  if( pOp[1].opcode!=OP_IfNotZero || pOp[2].opcode!=OP_Last || pOp[3].opcode!=OP_IdxLE ) return 0;
  if( pOp[2].p1!=pOp->p1 || pOp[3].p1!=pOp->p1 || !rpIsTail(b->s, pOp[3].p2) || pOp[3].p4type!=P4_INT32 ) return 0;
  for(i=0; i<b->s->iTop; i++){
    if( p->aOp[i].opcode==OP_OpenEphemeral && p->aOp[i].p1==pOp->p1 && p->aOp[i].p4type==P4_KEYINFO ) pKeyInfo = p->aOp[i].p4.pKeyInfo;
  }
  if( pKeyInfo==0 || pOp[3].p4.i>pKeyInfo->nKeyField || pKeyInfo->aSortFlags==0 ) return 0;
  for(i=0; i<pOp[3].p4.i; i++) if( pKeyInfo->aSortFlags[i] & KEYINFO_ORDER_BIGNULL ) return 0;
  return 1;
}

/*
** Whether the columns outside of aggregates are keys of the group. min() or max() takes these columns from its row.
** iReg: the register that tells SQLite to take them.
*/
static int rpBareAreKeys(RpBody *b, int iReg){
  RpScan *s = b->s;
  Op *a = s->pVdbe->aOp;
  int i;
  for(i=b->iFrom; i<b->iTo; i++) if( a[i].opcode==OP_If || a[i].opcode==OP_IfNot || a[i].opcode==OP_Goto ) return 0;
  for(i=0; i<(int)s->nKey; i++) if( s->aNoCase[i] ) return 0;
  for(i=b->iTo; i<s->iSorterNext; i++){
    switch( a[i].opcode ){
      case OP_If:
        if( i!=b->iTo || a[i].p1!=iReg ) return 0;
        break;
      case OP_Column:
        if( a[i].p1!=s->iPseudo || a[i].p2>=(int)s->nKey ) return 0;
        break;
      case OP_RealAffinity: case OP_Integer:
        break;
      default:
        return 0;
    }
  }
  return 1;
}

static int rpTranslateLookup(RpBody*, int iAddr);

/* Translates one instruction. Returns the number of SQLite's instructions that the translation replaces. */
static int rpTranslateOne(RpBody *b, int iAddr){
  RpScan *s = b->s;
  Vdbe *p = s->pVdbe;
  Op *pOp = &p->aOp[iAddr];
  RpInsn *q = 0;
  int n = b->bSecond || s->nLookup==0 ? 0 : rpTranslateLookup(b, iAddr);
  if( n ) return n;
  switch( pOp->opcode ){
    case OP_Noop: case OP_Explain: case OP_ReleaseReg:
      break;
    case OP_CollSeq:
      if( pOp->p1==0 ) break;
      if( !b->bSecond || !rpBareAreKeys(b, pOp->p1) ) rpStays(b, pOp); else s->bSameKeys = 1;
      break;
    case OP_Column:
      if( !b->bSecond && pOp->p1==s->iCursor ){
        q = rpEmit(s, RP_COLUMN, pOp);
        if( q==0 ) break;
        q->iColumn = (u32)pOp->p2;
        q->p3 = rpRegister(b, pOp->p3, 1);
        rpAddOut(s, q->p3);
        if( q->iColumn>=s->nField ) s->nField = q->iColumn+1;
      }else if( b->bSecond && pOp->p1==s->iPseudo ){
        q = rpEmit(s, RP_GROUP_COLUMN, pOp);
        if( q==0 ) break;
        q->p1 = &p->aMem[s->iRecord+pOp->p2];
        q->p3 = rpRegister(b, pOp->p3, 1);
      }else{
        rpStays(b, pOp);
      }
      break;
    case OP_Rowid:
      if( b->bSecond || pOp->p1!=s->iCursor ){
        rpStays(b, pOp);
      }else if( iAddr==s->iTop && (pOp[1].opcode==OP_Gt || pOp[1].opcode==OP_Ge) && pOp[1].p3==pOp->p2 && pOp[1].p2>s->iNext ){
        /* Each leaf page is searched for the end. Only this comparison uses the register. */
        rpReads(b, pOp[1].p1, 1);
        s->pEnd = &pOp[1];
        return 2;
      }else if( (q = rpEmit(s, RP_ROWID, pOp))!=0 ){
        q->p3 = rpRegister(b, pOp->p2, 1);
      }
      break;
    case OP_IdxGT: case OP_IdxGE:
      if( b->bSecond || iAddr!=s->iTop || pOp->p1!=s->iCursor || pOp->p2<=s->iNext ){
        rpStays(b, pOp);
      }else{
        rpReads(b, pOp->p3, pOp->p4.i);
        s->pEnd = pOp;
      }
      break;
    case OP_IdxRowid:
      if( b->bSecond || pOp->p1!=s->iCursor ){
        rpStays(b, pOp);
      }else if( (q = rpEmit(s, RP_COLUMN, pOp))!=0 ){
        q->iColumn = s->nIndexColumn-1;
        q->p3 = rpRegister(b, pOp->p2, 1);
        if( q->iColumn>=s->nField ) s->nField = q->iColumn+1;
      }
      break;
    case OP_RealAffinity:
      if( (q = rpEmit(s, RP_REAL, pOp))!=0 ) q->p1 = rpRegister(b, pOp->p1, 1);
      break;
    case OP_Cast:
      if( b->bSecond ) rpStays(b, pOp);
      else if( (q = rpEmit(s, RP_CAST, pOp))!=0 ) q->p1 = rpRegister(b, pOp->p1, 1);
      break;
    case OP_SCopy: case OP_Copy:
      if( pOp->opcode==OP_Copy && pOp->p3 ){
        rpStays(b, pOp);
      }else if( (q = rpEmit(s, RP_COPY, pOp))!=0 ){
        q->p1 = rpRegister(b, pOp->p1, 0);
        q->p3 = rpRegister(b, pOp->p2, 1);
        q->iColumn = pOp->opcode==OP_Copy && (pOp->p5 & 2);
        if( !b->bSecond ) rpAddOut(s, q->p3);
      }
      break;
    case OP_Integer: case OP_Int64:
      if( (q = rpEmit(s, RP_INTEGER, pOp))!=0 ) q->p3 = rpRegister(b, pOp->p2, 1);
      break;
    case OP_Null: case OP_BeginSubrtn:
      if( pOp->p1 || pOp->p3>pOp->p2 ) rpStays(b, pOp);
      else if( (q = rpEmit(s, RP_SETNULL, pOp))!=0 ) q->p3 = rpRegister(b, pOp->p2, 1);
      break;
    case OP_Eq: case OP_Ne: case OP_Lt: case OP_Le: case OP_Gt: case OP_Ge:
      q = rpEmit(s, RP_COMPARE, pOp);
      if( q==0 ) break;
      q->iJump = (u32)pOp->p2;
      q->p1 = rpRegister(b, pOp->p1, 0);
      q->p3 = rpRegister(b, pOp->p3, 0);
      break;
    case OP_IsNull: case OP_NotNull: case OP_If: case OP_IfNot:
      q = rpEmit(s, pOp->opcode==OP_IsNull ? RP_ISNULL : pOp->opcode==OP_NotNull ? RP_NOTNULL : pOp->opcode==OP_If ? RP_IF : RP_IFNOT, pOp);
      if( q==0 ) break;
      q->iJump = (u32)pOp->p2;
      q->p1 = rpRegister(b, pOp->p1, 0);
      break;
    case OP_Goto: case OP_Once:
      if( (q = rpEmit(s, pOp->opcode==OP_Goto ? RP_GOTO : RP_ONCE, pOp))!=0 ) q->iJump = (u32)pOp->p2;
      break;
    case OP_IfPos:
      if( pOp->p2!=b->iTo || b->bSecond ) rpStays(b, pOp);
      else if( (q = rpEmit(s, RP_OFFSET, pOp))!=0 ) q->p1 = &p->aMem[pOp->p1];
      break;
    case OP_Add: case OP_Subtract: case OP_Multiply: case OP_Divide: case OP_Remainder:
    case OP_And: case OP_Or:
      q = rpEmit(s, pOp->opcode==OP_And || pOp->opcode==OP_Or ? RP_LOGIC : RP_ARITHMETIC, pOp);
      if( q==0 ) break;
      q->p1 = rpRegister(b, pOp->p1, 0);
      q->p2 = rpRegister(b, pOp->p2, 0);
      q->p3 = rpRegister(b, pOp->p3, 1);
      break;
    case OP_Not:
      q = rpEmit(s, RP_NOT, pOp);
      if( q==0 ) break;
      q->p1 = rpRegister(b, pOp->p1, 0);
      q->p3 = rpRegister(b, pOp->p2, 1);
      break;
    case OP_Function: case OP_PureFunc: {
      FuncDef *pFunc = pOp->p4.pCtx->pFunc;
      if( b->bSecond || (pFunc->funcFlags & SQLITE_FUNC_BUILTIN)==0 || (pFunc->funcFlags & (SQLITE_FUNC_CONSTANT|SQLITE_FUNC_SLOCHNG))==0 ){
        rpStays(b, pOp);
      }else if( (q = rpEmit(s, pFunc->xSFunc==likeFunc && pFunc->pUserData==(void*)&likeInfoNorm && pOp->p4.pCtx->argc==2 ? RP_LIKE : RP_FUNCTION, pOp))!=0 ){
        rpReads(b, pOp->p2, pOp->p4.pCtx->argc);
        q->p1 = &p->aMem[pOp->p2];
        q->p3 = rpRegister(b, pOp->p3, 1);
      }
      break;
    }
    case OP_AggStep: case OP_AggStep1:
      rpTranslateStep(b, pOp);
      break;
    case OP_ResultRow:
      if( b->bSecond || !rpIsTail(s, iAddr+1+(pOp[1].opcode==OP_DecrJumpZero)) ){
        rpStays(b, pOp);
      }else if( (q = rpEmit(s, RP_RESULT, pOp))!=0 ){
        rpReads(b, pOp->p1, pOp->p2);
        q->p1 = &p->aMem[pOp->p1];
        q->p2 = pOp[1].opcode==OP_DecrJumpZero ? &p->aMem[pOp[1].p1] : 0;
        if( q->p2 ) return 2;
      }
      break;
    case OP_Sequence:
      if( rpIsTop(b, pOp, iAddr) ){
        q = rpEmit(s, RP_TOP, pOp);
        if( q==0 ) break;
        rpReads(b, pOp[3].p3, pOp[3].p4.i);
        q->p1 = &p->aMem[pOp[3].p3];
        q->p3 = &p->aMem[pOp->p2];
        s->pTop = pOp;
        /* SQLite executes a row that is kept. */
        rpEmit(s, RP_STAY, &pOp[4]);
        return 4;
      }
      /* fall through */
    default:
      rpStays(b, pOp);
  }
  return 1;
}

/* An instruction that SQLite must not execute again for the same row. */
static int rpIsEffect(const RpInsn *q){
  u8 eCode = q->eCode;
  return q->bCarried || eCode==RP_COUNT || eCode==RP_SUM || eCode==RP_STEP || eCode==RP_GROUP || eCode==RP_RESULT;
}

/* Translates [iFrom, iTo) and, for the first loop of GROUP BY, the second one after it. */
static int rpTranslateBody(RpBody *b){
  RpScan *s = b->s;
  int i, n;
  u32 k;
  b->iFirst = s->nInsn;
  b->aiInsn = sqlite3_malloc64((u64)(b->iTo-b->iFrom+1)*4);
  b->aUse = sqlite3_malloc64((u64)s->pVdbe->nMem+2);
  if( b->aiInsn==0 || b->aUse==0 ){
    sqlite3_free(b->aiInsn);
    sqlite3_free(b->aUse);
    return 0;
  }
  memset(b->aUse, 0, (size_t)s->pVdbe->nMem+2);
  for(i=0; i<b->iTo-b->iFrom; i++) b->aiInsn[i] = RP_NO_JUMP;
  for(i=b->iFrom; i<b->iTo; i+=n){
    b->aiInsn[i-b->iFrom] = s->nInsn;
    b->bCarried = 0;
    n = rpTranslateOne(b, i);
    if( b->bCarried && s->nInsn>b->aiInsn[i-b->iFrom] ) s->aInsn[s->nInsn-1].bCarried = 1;
  }
  sqlite3_free(b->aUse);
  b->aUse = 0;
  b->aiInsn[b->iTo-b->iFrom] = s->nInsn;
  /* Every jump leads forward within the body, or out of the loop. */
  for(k=b->iFirst; k<s->nInsn; k++){
    RpInsn *q = &s->aInsn[k];
    u32 iJump = q->iJump, i;
    if( iJump==RP_NO_JUMP ) continue;
    q->iJump = RP_NO_JUMP;
    for(i=0; !b->bSecond && i<s->nLookup; i++){
      RpLookup *pLookup = &s->aLookup[i];
      /* A jump past the search of a LEFT JOIN means that there is no row. */
      if( pLookup->iLeft && iJump==(u32)pLookup->iLeft && q->pOp<&s->pVdbe->aOp[pLookup->iAddr] ) q->iJump = pLookup->iNullRow;
    }
    if( q->iJump!=RP_NO_JUMP ){
      if( q->iJump<=k ) b->bFailed = 1;
      continue;
    }
    if( iJump>=(u32)b->iFrom && iJump<=(u32)b->iTo ) q->iJump = b->aiInsn[iJump-b->iFrom];
    if( q->iJump!=RP_NO_JUMP && q->iJump<=k ) q->iJump = RP_NO_JUMP;
    /* The jump is marked, and later leads to the RP_EXIT at the end. */
    if( q->iJump==RP_NO_JUMP ){
      q->iJump = RP_NO_JUMP-1;
      if( b->bSecond ) b->bFailed = 1;
    }
  }
  sqlite3_free(b->aiInsn);
  b->aiInsn = 0;
  return !b->bFailed;
}

/* Recognises the two loops of GROUP BY with a sorter. iTo: address of OP_MakeRecord. */
static int rpFindGroupBy(RpScan *s, int *piFrom, int *piTo){
  Vdbe *p = s->pVdbe;
  Op *a = p->aOp, *pSort = &a[s->iNext+2];
  KeyInfo *pKeyInfo = 0;
  int i, iRecord, iStep;
  u32 k;
  for(iRecord=s->iNext-2; iRecord>s->iTop && (a[iRecord].opcode!=OP_MakeRecord || !rpIsTail(s, iRecord+2)); iRecord--){}
  s->iGroupEnd = iRecord;
  if( iRecord<=s->iTop || s->iNext+16>=p->nOp || s->iStart==0 ) return 0;
  if( a[iRecord].opcode!=OP_MakeRecord || a[iRecord].p4type!=P4_NOTUSED || a[iRecord+1].opcode!=OP_SorterInsert || a[iRecord+1].p2!=a[iRecord].p3 ) return 0;
  if( pSort[-1].opcode!=OP_OpenPseudo || pSort->opcode!=OP_SorterSort || pSort[1].opcode!=OP_SorterData ) return 0;
  s->iSorter = a[iRecord+1].p1;
  if( pSort->p1!=s->iSorter || pSort[1].p1!=s->iSorter || pSort[1].p3!=pSort[-1].p1 ) return 0;
  for(i=0; i<s->iTop; i++) if( a[i].opcode==OP_SorterOpen && a[i].p1==s->iSorter ) pKeyInfo = a[i].p4.pKeyInfo;
  for(i=0; pSort[2+i].opcode==OP_Column && pSort[2+i].p1==pSort[-1].p1 && pSort[2+i].p2==i; i++){}
  s->nKey = (u32)i;
  pSort += 2+i;
  if( pKeyInfo==0 || i==0 || i>RP_MAX_KEYS || pKeyInfo->nKeyField!=i ) return 0;
  if( pSort->opcode!=OP_Compare || pSort->p3!=i || pSort->p5!=0 || pSort[1].opcode!=OP_Jump || pSort[1].p1!=pSort[1].p3 ) return 0;
  for(k=0; k<s->nKey; k++){
    CollSeq *pColl = pKeyInfo->aColl[k];
    if( pSort[-(i-(int)k)].p3!=pSort->p2+(int)k ) return 0;
    if( sqlite3IsBinary(pColl) ) s->aNoCase[k] = 0;
    else if( pColl->xCmp==nocaseCollatingFunc ) s->aNoCase[k] = 1;
    else return 0;
  }
  /* OP_Move empties the registers of the row's key. For a first key of NULLs, both registers are NULL. */
  s->iKeyNow = pSort->p1;
  s->iPseudo = a[s->iNext+1].p1;
  s->iRecord = a[iRecord].p1;
  *piFrom = pSort[1].p2;
  for(i=*piFrom; i<p->nOp && a[i].opcode!=OP_SorterNext && a[i].opcode!=OP_Halt; i++){}
  if( i>=p->nOp || a[i].opcode!=OP_SorterNext || a[i].p1!=s->iSorter || *piFrom<=s->iNext ) return 0;
  s->iSorterNext = i;
  for(iStep=-1, i=*piFrom; i<s->iSorterNext; i++) if( a[i].opcode==OP_AggStep || a[i].opcode==OP_AggStep1 ) iStep = i;
  /*
  ** After the last step, the first row of a group only sets columns and a flag. An aggregate with ORDER BY stores each row
  ** in an index there instead, for steps at the end of the group.
  */
  for(i=iStep+1; i<s->iSorterNext; i++){
    u8 eOp = a[i].opcode;
    if( eOp!=OP_If && eOp!=OP_Column && eOp!=OP_RealAffinity && eOp!=OP_Integer ) return 0;
  }
  *piTo = iStep+1;
  return iStep>=0;
}

static void rpFreeScan(RpScan *s){
  rpFreeGroups(s);
  rpFreeLookups(s);
  while( s->nTemp>0 ) sqlite3VdbeMemRelease(&s->aTemp[--s->nTemp]);
  if( s->pKept ) sqlite3DbFree(s->pVdbe->db, s->pKept);
  sqlite3_free(s->aKept);
  sqlite3_free(s->aTemp);
  sqlite3_free(s->aiTemp);
  sqlite3_free(s->aWhole);
  sqlite3_free(s->aType);
  sqlite3_free(s->aOffset);
  sqlite3_free(s->apOut);
  sqlite3_free(s->aInsn);
  sqlite3_free(s->pBatch);
  sqlite3_free(s);
}

/* Whether every row reaches an instruction for SQLite before one that has an effect or ends the row. */
static int rpAllStay(RpScan *s){
  u32 k;
  s->aInsn[0].bReached = 1;
  for(k=0; k<s->nInsn; k++){
    RpInsn *q = &s->aInsn[k];
    if( !q->bReached || q->eCode==RP_STAY || q->eCode==RP_EXIT ) continue;
    if( q->eCode==RP_DONE || rpIsEffect(q) || q->eCode==RP_TOP || q->eCode==RP_OFFSET ) return 0;
    if( q->iJump!=RP_NO_JUMP ) s->aInsn[q->iJump].bReached = 1;
    if( q->eCode!=RP_GOTO && q->eCode!=RP_ONCE ) q[1].bReached = 1;
    /* LEFT JOIN: if there is a row, RP_SEEK skips the RP_NULLROW after it. */
    if( q->eCode==RP_SEEK && k+2<s->nInsn ) q[2].bReached = 1;
  }
  return 1;
}

/* Translates the loop that ends with the OP_Next at iNext. */
static void rpTranslate(RpScan *s){
  Vdbe *p = s->pVdbe;
  RpBody body;
  int iFrom = 0, iTo = 0, bGroup, i;
  u32 k, iEffect = RP_NO_JUMP, iGate = RP_NO_JUMP;
  s->nState = 0;
  s->aTemp = sqlite3_malloc64(16*sizeof(Mem));
  s->aiTemp = sqlite3_malloc64(16*sizeof(int));
  s->apOut = sqlite3_malloc64((u64)(s->iNext-s->iTop+1)*sizeof(Mem*));
  if( s->aTemp==0 || s->aiTemp==0 || s->apOut==0 ) return;
  memset(s->aTemp, 0, 16*sizeof(Mem));
  for(i=0; i<16; i++){
    s->aTemp[i].flags = MEM_Null;
    s->aTemp[i].db = p->db;
  }
  s->iSorter = -1;
  rpFindLookups(s);
  bGroup = rpFindGroupBy(s, &iFrom, &iTo);
  memset(&body, 0, sizeof(body));
  body.s = s;
  body.iFrom = s->iTop;
  body.iTo = bGroup ? s->iGroupEnd : s->iNext;
  if( !rpTranslateBody(&body) ) return;
  if( bGroup ){
    /* A row that the first loop skips jumps to OP_Next, which is beyond what is translated. */
    RpInsn *q;
    for(k=0; k<s->nInsn; k++){
      u32 iJump = s->aInsn[k].iJump;
      if( s->aInsn[k].eCode==RP_STAY || s->aInsn[k].bCarried ) bGroup = 0;
      if( iJump==RP_NO_JUMP-1 && s->aInsn[k].pOp->p2>s->iGroupEnd && rpIsTail(s, s->aInsn[k].pOp->p2) ) s->aInsn[k].iJump = RP_NO_JUMP-2;
    }
    if( bGroup && (q = rpEmit(s, RP_GATE, 0))!=0 && (q = rpEmit(s, RP_GROUP, 0))!=0 ){
      q->p1 = &p->aMem[s->iRecord];
      s->nState = sizeof(RpGroup) + s->nKey*sizeof(RpKey);
      s->nState = (s->nState+7)&~(u32)7;
      body.iFrom = iFrom;
      body.iTo = iTo;
      body.bSecond = 1;
      if( !rpTranslateBody(&body) ) bGroup = 0;
    }
    if( !bGroup ){
      /* The scan drops rows by the filter; all other rows stay. */
      s->nInsn = s->nOut = s->nTemp = 0;
      s->pTop = 0;
      s->iSorter = -1;
      s->iSorterNext = 0;
      s->pEnd = 0;
      memset(&body, 0, sizeof(body));
      body.s = s;
      body.iFrom = s->iTop;
      body.iTo = s->iNext;
      if( !rpTranslateBody(&body) ) return;
    }
  }else{
    s->iSorter = -1;
    s->iSorterNext = 0;
  }
  if( rpEmit(s, RP_DONE, 0)==0 || rpEmit(s, RP_EXIT, 0)==0 ) return;
  for(k=0; k<s->nInsn; k++){
    RpInsn *q = &s->aInsn[k];
    if( q->iJump==RP_NO_JUMP-1 ) q->iJump = s->nInsn-1;
    else if( q->iJump==RP_NO_JUMP-2 ) q->iJump = s->nInsn-2;
    if( rpIsEffect(q) && iEffect==RP_NO_JUMP ) iEffect = k;
  }
  /* After an effect, no instruction may let the row stay. If one could, all rows with an effect stay. */
  if( iEffect!=RP_NO_JUMP && !bGroup ){
    int bLate = 0;
    for(k=iEffect+1; k<s->nInsn-2; k++){
      u8 e = s->aInsn[k].eCode;
      if( e==RP_STAY || e==RP_RESULT || e==RP_TOP || e==RP_ONCE || e==RP_OFFSET || e==RP_SEEK || s->aInsn[k].iJump==s->nInsn-1 ) bLate = 1;
    }
    if( bLate ){
      for(k=iEffect; k<s->nInsn-2; k++) if( rpIsEffect(&s->aInsn[k]) ) s->aInsn[k].eCode = RP_STAY;
      if( s->iWhyNot==0 ) s->iWhyNot = s->aInsn[iEffect].pOp->opcode;
      iEffect = RP_NO_JUMP;
    }else{
      /* The gate is in front of the first effect and of each jump over it, unless that ends the row. */
      iGate = iEffect;
      for(k=iGate; k-->0; ){
        u32 iJump = s->aInsn[k].iJump;
        if( iJump!=RP_NO_JUMP && iJump>iGate && iJump<s->nInsn-2 ) iGate = k;
      }
      if( rpEmit(s, RP_EXIT, 0)==0 ) return;
      memmove(&s->aInsn[iGate+1], &s->aInsn[iGate], (s->nInsn-1-iGate)*sizeof(RpInsn));
      memset(&s->aInsn[iGate], 0, sizeof(RpInsn));
      s->aInsn[iGate].eCode = RP_GATE;
      s->aInsn[iGate].iJump = RP_NO_JUMP;
      for(k=0; k<s->nInsn; k++) if( s->aInsn[k].iJump!=RP_NO_JUMP && s->aInsn[k].iJump>iGate ) s->aInsn[k].iJump++;
      for(k=iGate; k<s->nInsn; k++){
        if( s->aInsn[k].eCode==RP_COLUMN ) s->aInsn[iGate].iColumn = MAX(s->aInsn[iGate].iColumn, s->aInsn[k].iColumn+1);
      }
    }
  }
  s->aType = sqlite3_malloc64((u64)(s->nField+1)*4);
  s->aOffset = sqlite3_malloc64((u64)(s->nField+2)*4);
  if( s->aType==0 || s->aOffset==0 ) return;
  /* The scan pays if it can complete a row without SQLite. */
  if( iEffect!=RP_NO_JUMP || bGroup || s->pTop ) s->bUsable = 1;
  for(k=0; k<s->nInsn; k++) if( s->aInsn[k].iJump==s->nInsn-2 || s->aInsn[k].eCode==RP_OFFSET ) s->bUsable = 1;
  if( rpAllStay(s) ) s->bUsable = 0;
  if( s->bUsable ) rpPlanBatch(s);
}

/* Whether iCursor is opened on a table with rowids. *pnColumn: the number of columns if it is on an index, else 0. */
static int rpReadsTable(Vdbe *p, int iCursor, u32 *pnColumn){
  int i, bTable = 0, bWrites = 0;
  *pnColumn = 0;
  for(i=0; i<p->nOp; i++){
    Op *pOp = &p->aOp[i];
    if( (pOp->opcode!=OP_OpenRead && pOp->opcode!=OP_OpenWrite && pOp->opcode!=OP_ReopenIdx) || pOp->p1!=iCursor ) continue;
    bTable = pOp->p4type==P4_INT32;
    bWrites |= pOp->opcode==OP_OpenWrite;
    *pnColumn = pOp->p4type==P4_KEYINFO && !bWrites ? pOp->p4.pKeyInfo->nAllField : 0;
  }
  return bTable;
}

/* Translates the loop that ends at an address, or returns 0. */
static RpScan *rpNewScan(Vdbe *p, int i){
  Op *pOp = &p->aOp[i];
  RpScan *s;
  u32 nIndexColumn;
  int iStart;
  if( ENC(p->db)!=SQLITE_UTF8 || pOp->opcode!=OP_Next || pOp->p2>=i || (!rpReadsTable(p, pOp->p1, &nIndexColumn) && nIndexColumn==0) ) return 0;
  s = sqlite3_malloc64(sizeof(RpScan));
  if( s==0 ) return 0;
  memset(s, 0, sizeof(*s));
  s->pVdbe = p;
  s->iNext = i;
  s->iTop = pOp->p2;
  s->iCursor = pOp->p1;
  s->bIndex = nIndexColumn>0;
  s->nIndexColumn = nIndexColumn;
  /* Only the computation of the range's end is between the two. */
  for(iStart=s->iTop-1; iStart>0; iStart--){
    Op *pStart = &p->aOp[iStart];
    if( pStart->p1==s->iCursor && pStart->p2>i && (pStart->opcode==OP_Rewind || pStart->opcode==OP_SeekGE || pStart->opcode==OP_SeekGT) ){
      s->iStart = iStart;
      break;
    }
    if( (sqlite3OpcodeProperty[pStart->opcode] & OPFLG_JUMP) && pStart->opcode!=OP_IsNull ) break;
  }
  rpTranslate(s);
  return s;
}

/* Translates the loops of a statement. */
static void rpPrepareScans(Vdbe *p){
  int i;
  p->eRockpool = 1;
  for(i=1; i<p->nOp; i++){
    RpScan *s = rpNewScan(p, i);
    if( s==0 ) continue;
    if( !s->bUsable ){
      rpFreeScan(s);
      continue;
    }
    s->pNextScan = p->pRockpool;
    p->pRockpool = s;
    p->aOp[i].p4.p = s;
  }
}

/*
** Sets the comment of a loop's last instruction for EXPLAIN: "SQLite", or "operators", which " in batches" or " filter in
** batches" may follow. After a colon comes the first instruction that only SQLite executes, if there is one.
*/
static void rockpoolExplain(Vdbe *p, Op *aOp, int i, Mem *pOut){
  RpScan *s = aOp==p->aOp ? rpNewScan(p, i) : 0;
  struct RpBatch *pBatch;
  char *z;
  sqlite3VdbeMemSetNull(pOut);
  if( s==0 ) return;
  pBatch = s->pBatch;
  z = sqlite3_mprintf("%s%s%s%s", s->bUsable ? "operators" : "SQLite", pBatch ? rpIsFilterBatch(pBatch) ? " filter in batches" : " in batches" : "",
    s->iWhyNot ? ":" : "", s->iWhyNot ? sqlite3OpcodeName(s->iWhyNot) : "");
  rpFreeScan(s);
  sqlite3VdbeMemSetStr(pOut, z, -1, SQLITE_UTF8, sqlite3_free);
}

#ifdef __EMSCRIPTEN__
#pragma clang attribute pop
#endif

/* ---------------------------------------------------------------- Called by SQLite's virtual machine (hooks.mjs) */

/* Called before the first row of a loop. */
static void rpBegin(RpScan *s, u32 nWait){
  s->bOff = s->bNoMemory = 0;
  s->nRow = s->nStayed = s->nBatched = s->nRefused = 0;
  s->wait.nRow = nWait;
  if( s->eGroup!=RP_NOT_STARTED ) rpFreeGroups(s);
}

/* Called after OP_SeekGE or OP_SeekGT has found the first row of a range. */
RP_SMALL static SQLITE_NOINLINE void rockpoolSeek(Vdbe *p, Op *pOp){
  RpScan *s;
  int i = (int)(pOp - p->aOp);
  if( p->pFrame ) return;
  for(s=p->pRockpool; s && s->iStart!=i; s=s->pNextScan){}
  if( s==0 ) return;
  s->pVdbe = p;
  rpBegin(s, rpScanMode==1 ? MAX(s->nNextWait, RP_RANGE_WAIT) : 0);
  if( s->iSorter>=0 && s->bIndex ) rpKeepRecord(s, p->apCsr[s->iCursor]);
}

/* Called after OP_Next or OP_Rewind has moved the cursor to a row. Returns like sqlite3BtreeNext(). */
static SQLITE_NOINLINE int rockpoolScan(Vdbe *p, Op *pOp, VdbeCursor *pC){
  RpScan *s;
  int i = (int)(pOp - p->aOp), bNext = pOp->opcode==OP_Next;
  /* A trigger has a program of its own. */
  if( p->pFrame || rpScanMode==0 ) return SQLITE_OK;
  if( p->eRockpool==0 ) rpPrepareScans(p);
  s = bNext ? (RpScan*)pOp->p4.p : p->pRockpool;
  while( s && !bNext && s->iStart!=i ) s = s->pNextScan;
  if( s==0 ) return SQLITE_OK;
  s->pVdbe = p;
  if( !bNext ){
    rpBegin(s, 0);
    /* The end of the range is unknown, or OP_Rewind does not jump to the end of this loop but to that of a whole join. */
    if( s->iTop!=i+1 || pOp->p2!=s->iNext+1 ) return SQLITE_OK;
  }
  if( s->bOff || pC->eCurType!=CURTYPE_BTREE || pC->isTable==s->bIndex || pC->isEphemeral || pC->nullRow || pC->deferredMoveto ) return SQLITE_OK;
  return rpRun(s);
}

/* Called before OP_SorterNext: sets the accumulators of a group. */
RP_SMALL static SQLITE_NOINLINE int rockpoolGroup(Vdbe *p, Op *pOp){
  RpScan *s;
  RpKey aKey[RP_MAX_KEYS];
  u32 iHash, k;
  int bDoubt = 0, i = (int)(pOp - p->aOp);
  if( p->pFrame ) return SQLITE_OK;
  for(s=p->pRockpool; s && s->iSorterNext!=i; s=s->pNextScan){}
  if( s==0 || s->eGroup!=RP_HASHED ) return SQLITE_OK;
  s->pGroup = rpFindGroup(s, &p->aMem[s->iKeyNow], aKey, &iHash, &bDoubt);
  if( s->pGroup==0 ) return SQLITE_INTERNAL;
  for(k=0; k<s->nInsn; k++){
    RpInsn *q = &s->aInsn[k];
    if( q->eCode<RP_GROUP_COUNT || q->eCode>RP_GROUP_BEST ) continue;
    if( (q->p3->flags & MEM_Agg)==0 ){
      /* With FILTER, the first row of the group may have made no step. */
      u32 n = q->eCode==RP_GROUP_SUM ? sizeof(SumCtx) : q->eCode==RP_GROUP_COUNT ? sizeof(CountCtx) : sizeof(Mem);
      if( sqlite3VdbeMemClearAndResize(q->p3, (int)n) ) return SQLITE_NOMEM_BKPT;
      memset(q->p3->z, 0, n);
      q->p3->flags = MEM_Agg;
      q->p3->u.pDef = q->pOp->opcode==OP_AggStep1 ? q->pOp->p4.pCtx->pFunc : q->pOp->p4.pFunc;
    }
    if( q->eCode==RP_GROUP_SUM ){
      memcpy(q->p3->z, RP_STATE(q), sizeof(SumCtx));
    }else if( q->eCode==RP_GROUP_COUNT ){
      ((CountCtx*)q->p3->z)->n = *(i64*)RP_STATE(q);
      q->p3->n = (int)*(i64*)RP_STATE(q);
    }else if( ((Mem*)RP_STATE(q))->flags ){
      ((Mem*)q->p3->z)->db = p->db;
      if( sqlite3VdbeMemCopy((Mem*)q->p3->z, RP_STATE(q)) ) return SQLITE_NOMEM_BKPT;
    }
  }
  return SQLITE_OK;
}

/* Called when a statement ends. */
RP_SMALL static void rockpoolEnd(Vdbe *p){
  RpScan *s;
  for(s=p->pRockpool; s; s=s->pNextScan){
    if( s->eGroup!=RP_NOT_STARTED ) rpFreeGroups(s);
    rpFreeLookups(s);
    s->bOff = 0;
    s->nRow = s->nStayed = s->wait.nRow = s->nNextWait = 0;
  }
}

RP_SMALL static void rockpoolFree(Vdbe *p){
  while( p->pRockpool ){
    RpScan *s = p->pRockpool;
    p->pRockpool = s->pNextScan;
    s->pVdbe = p;
    rpFreeScan(s);
  }
  p->eRockpool = 0;
}
