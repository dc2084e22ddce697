// Makes SQLite call scan.c and json-storage.c. Each text to find must occur exactly once in the amalgamation, so that
// the build fails for a different version of SQLite instead of omitting a call.

/** @type {readonly [find: string, replace: string][]} */
const HOOKS = [
  // A statement owns the translations of its loops.
  ['  u32 aCounter[9];        /* Counters used by sqlite3_stmt_status() */\n', '  u32 aCounter[9];        /* Counters used by sqlite3_stmt_status() */\n  struct RpScan *pRockpool;\n  u8 eRockpool;\n'],
  [
    'static void closeAllCursors(Vdbe *p){\n',
    'static int rockpoolScan(Vdbe*, Op*, VdbeCursor*);\nstatic void rockpoolSeek(Vdbe*, Op*);\nstatic int rockpoolGroup(Vdbe*, Op*);\nstatic void rockpoolEnd(Vdbe*);\nstatic void rockpoolFree(Vdbe*);\nstatic int rpScanMode;\n' +
      // The first field of an RpScan: the number of rows that SQLite executes before it tries the translated loop. p4
      // of the loop's OP_Next, which SQLite does not use, points to the RpScan.
      'typedef struct RpWait RpWait;\nstruct RpWait { u32 nRow; };\n' +
      'static SQLITE_INLINE int rockpoolIsDue(Vdbe *p, Op *pOp){\n  RpWait *pWait = (RpWait*)pOp->p4.p;\n  if( pWait==0 ) return p->eRockpool==0 && ((p->aCounter[pOp->p5] & 63)==63 || rpScanMode==2);\n  if( pWait->nRow==0 ) return 1;\n  pWait->nRow--;\n  return 0;\n}\n' +
      'static void closeAllCursors(Vdbe *p){\n  if( p->pRockpool ) rockpoolEnd(p);\n',
  ],
  ['  vdbeFreeOpArray(db, p->aOp, p->nOp);\n  if( p->zSql ) sqlite3DbNNFreeNN(db, p->zSql);\n', '  rockpoolFree(p);\n  vdbeFreeOpArray(db, p->aOp, p->nOp);\n  if( p->zSql ) sqlite3DbNNFreeNN(db, p->zSql);\n'],
  // Calls rockpoolScan() after a step of a loop. For a statement without translations, that is only once, after 64
  // steps.
  [
    '  rc = sqlite3BtreeNext(pC->uc.pCursor, pOp->p3);\n\nnext_tail:\n',
    '  rc = sqlite3BtreeNext(pC->uc.pCursor, pOp->p3);\n' +
      '  if( rc==SQLITE_OK && rockpoolIsDue(p, pOp) ){\n    pC->nullRow = 0;\n    rc = rockpoolScan(p, pOp, pC);\n  }\n\nnext_tail:\n',
  ],
  [
    '    rc = sqlite3BtreeFirst(pCrsr, &res);\n    pC->deferredMoveto = 0;\n    pC->cacheStatus = CACHE_STALE;\n  }\n  if( rc ) goto abort_due_to_error;\n  pC->nullRow = (u8)res;\n',
    '    rc = sqlite3BtreeFirst(pCrsr, &res);\n    pC->deferredMoveto = 0;\n    pC->cacheStatus = CACHE_STALE;\n' +
      '    if( rc==SQLITE_OK && res==0 && pOp->p2>0 && (p->pRockpool!=0 || rpScanMode==2) ){\n      pC->nullRow = 0;\n      rc = rockpoolScan(p, pOp, pC);\n      if( rc==SQLITE_DONE ){\n        rc = SQLITE_OK;\n        res = 1;\n      }\n    }\n' +
      '  }\n  if( rc ) goto abort_due_to_error;\n  pC->nullRow = (u8)res;\n',
  ],
  // Calls rockpoolSeek() after the search for the first row of a range, where new groups begin.
  ['  i64 movetoTarget;       /* Argument to the deferred sqlite3BtreeMoveto() */\n', '  i64 movetoTarget;       /* Argument to the deferred sqlite3BtreeMoveto() */\n  i64 iRockpoolFirst;\n'],
  [
    '  if( res ){\n    goto jump_to_p2;\n  }else if( eqOnly ){\n    assert( pOp[1].opcode==OP_IdxLT || pOp[1].opcode==OP_IdxGT );\n',
    '  if( res ){\n    goto jump_to_p2;\n  }\n  if( pC->isTable ) pC->iRockpoolFirst = sqlite3BtreeIntegerKey(pC->uc.pCursor);\n  if( p->pRockpool!=0 ) rockpoolSeek(p, pOp);\n  if( eqOnly ){\n    assert( pOp[1].opcode==OP_IdxLT || pOp[1].opcode==OP_IdxGT );\n',
  ],
  // The column `comment` of EXPLAIN says how a loop is executed.
  ['SQLITE_PRIVATE int sqlite3VdbeList(\n', 'static void rockpoolExplain(Vdbe*, Op*, int, Mem*);\nSQLITE_PRIVATE int sqlite3VdbeList(\n'],
  ['        sqlite3VdbeMemSetNull(pMem+7);\n', '        rockpoolExplain(p, aOp, i, pMem+7);\n'],
  ['  rc = sqlite3VdbeSorterNext(db, pC);\n  goto next_tail;\n', '  if( p->pRockpool!=0 && (rc = rockpoolGroup(p, pOp))!=SQLITE_OK ) goto abort_due_to_error;\n  rc = sqlite3VdbeSorterNext(db, pC);\n  goto next_tail;\n'],
];

/** A column whose records hold JSONB. @param {string} column @returns {string} */
const isBinary = (column) => `(${column}.colFlags & COLFLAG_JSON)!=0`;

// Converts columns of binary JSON in the places where SQLite converts REAL columns (json-storage.c).
/** @type {readonly [find: string, replace: string][]} */
const JSON_HOOKS = [
  ['#define COLFLAG_GENERATED 0x0060 ', '#define COLFLAG_JSON      0x0800   /* TEXT, stored as JSONB */\n#define COLFLAG_GENERATED 0x0060 '],
  [
    '#define SQLITE_AFF_DEFER    0x58',
    '#define SQLITE_AFF_JSON     0x47  /* G: only in OP_Cast and OP_Affinity */\n#define OPFLAG_JSONARG      0x20  /* Expr.op2 of a column: reads the stored form */\n#define SQLITE_AFF_DEFER    0x58',
  ],
  [
    'SQLITE_PRIVATE int sqlite3VdbeMemCast(Mem *pMem, u8 aff, u8 encoding){\n  if( pMem->flags & MEM_Null ) return SQLITE_OK;\n',
    'static int rockpoolJsonText(Mem*);\nstatic void rockpoolJsonBinary(Mem*);\nstatic int rockpoolReadsJson(const FuncDef*);\n' +
      '/* Removes the conversion to text that follows the read of a column. */\n' +
      'static void rockpoolRaw(Vdbe *v){\n  if( v->nOp>0 && v->aOp[v->nOp-1].opcode==OP_Cast && v->aOp[v->nOp-1].p2==SQLITE_AFF_JSON ) v->nOp--;\n}\n' +
      'static void rockpoolWantRaw(Expr *p){\n  if( p->op==TK_COLUMN || p->op==TK_AGG_COLUMN || p->op==TK_TRIGGER ) p->op2 = OPFLAG_JSONARG;\n}\n' +
      'SQLITE_PRIVATE int sqlite3VdbeMemCast(Mem *pMem, u8 aff, u8 encoding){\n  if( pMem->flags & MEM_Null ) return SQLITE_OK;\n  if( aff==SQLITE_AFF_JSON ) return rockpoolJsonText(pMem);\n',
  ],
  ['assert( pOp->p2>=SQLITE_AFF_BLOB && pOp->p2<=SQLITE_AFF_REAL );\n  testcase( pOp->p2==SQLITE_AFF_TEXT );', 'assert( pOp->p2>=SQLITE_AFF_BLOB && pOp->p2<=SQLITE_AFF_JSON );'],
  // The declaration of a column.
  [
    '    pCol->affinity = sqlite3AffinityType(zType, pCol);\n    pCol->colFlags |= COLFLAG_HASTYPE;\n',
    '    pCol->affinity = sqlite3AffinityType(zType, pCol);\n    pCol->colFlags |= COLFLAG_HASTYPE;\n    if( sqlite3StrICmp(zType, "TEXT JSONB")==0 ) pCol->colFlags |= COLFLAG_JSON;\n',
  ],
  // Conversion of a value for a record.
  [
    '  if( affinity>=SQLITE_AFF_NUMERIC ){\n    assert( affinity==SQLITE_AFF_INTEGER || affinity==SQLITE_AFF_REAL\n',
    '  if( affinity==SQLITE_AFF_JSON ){\n    applyAffinity(pRec, SQLITE_AFF_TEXT, enc);\n    rockpoolJsonBinary(pRec);\n  }else if( affinity>=SQLITE_AFF_NUMERIC ){\n    assert( affinity==SQLITE_AFF_INTEGER || affinity==SQLITE_AFF_REAL\n',
  ],
  ['        zColAff[j++] = pTab->aCol[i].affinity;\n      }\n    }\n    do{\n      zColAff[j--] = 0;', `        zColAff[j++] = ${isBinary('pTab->aCol[i]')} ? SQLITE_AFF_JSON : pTab->aCol[i].affinity;\n      }\n    }\n    do{\n      zColAff[j--] = 0;`],
  // Conversion of a value for an index, whose keys are text.
  ['        sqlite3VdbeAddOp2(v, OP_SCopy, x, regIdx+i);\n        VdbeComment((v, "%s", pTab->aCol[iField].zCnName));\n', `        sqlite3VdbeAddOp2(v, OP_SCopy, x, regIdx+i);\n        if( ${isBinary('pTab->aCol[iField]')} ) sqlite3VdbeAddOp2(v, OP_Cast, regIdx+i, SQLITE_AFF_JSON);\n`],
  // Conversion of a value from a record.
  ['  if( pCol->affinity==SQLITE_AFF_REAL ){\n    sqlite3VdbeAddOp1(v, OP_RealAffinity, iReg);\n  }\n', `  if( pCol->affinity==SQLITE_AFF_REAL ){\n    sqlite3VdbeAddOp1(v, OP_RealAffinity, iReg);\n  }\n  if( ${isBinary('pCol[0]')} ) sqlite3VdbeAddOp2(v, OP_Cast, iReg, SQLITE_AFF_JSON);\n`],
  [
    '  sqlite3ExprCodeGetColumnOfTable(pParse->pVdbe, pTab, iTable, iColumn, iReg);\n  if( p5 ){\n',
    '  sqlite3ExprCodeGetColumnOfTable(pParse->pVdbe, pTab, iTable, iColumn, iReg);\n  if( p5==OPFLAG_JSONARG ){\n    rockpoolRaw(pParse->pVdbe);\n  }else if( p5 ){\n',
  ],
  ['  assert( (p5 & (OPFLAG_NOCHNG|OPFLAG_TYPEOFARG|OPFLAG_LENGTHARG))==p5 );\n', ''],
  // Conversion of a value from the registers of a row: for constraints, generated columns, triggers, RETURNING and
  // excluded.
  [
    '            sqlite3VdbeAddOp2(v, OP_SCopy, iSrc, target);\n            sqlite3VdbeAddOp1(v, OP_RealAffinity, target);\n            return target;\n          }else{\n',
    `            sqlite3VdbeAddOp2(v, OP_SCopy, iSrc, target);\n            sqlite3VdbeAddOp1(v, OP_RealAffinity, target);\n            return target;\n          }else if( ${isBinary('pCol[0]')} && pExpr->op2!=OPFLAG_JSONARG ){\n            sqlite3VdbeAddOp2(v, OP_SCopy, iSrc, target);\n            sqlite3VdbeAddOp2(v, OP_Cast, target, SQLITE_AFF_JSON);\n            return target;\n          }else{\n`,
  ],
  [
    '      if( iCol>=0 && pTab->aCol[iCol].affinity==SQLITE_AFF_REAL ){\n        sqlite3VdbeAddOp1(v, OP_RealAffinity, target);\n      }\n',
    `      if( iCol>=0 && pTab->aCol[iCol].affinity==SQLITE_AFF_REAL ){\n        sqlite3VdbeAddOp1(v, OP_RealAffinity, target);\n      }\n      if( iCol>=0 && ${isBinary('pTab->aCol[iCol]')} && pExpr->op2!=OPFLAG_JSONARG ) sqlite3VdbeAddOp2(v, OP_Cast, target, SQLITE_AFF_JSON);\n`,
  ],
  [
    '    case TK_REGISTER: {\n      return pExpr->iTable;\n    }\n',
    `    case TK_REGISTER: {\n      if( pParse->bReturning && pExpr->op2==TK_COLUMN && ExprUseYTab(pExpr) && pExpr->y.pTab && pExpr->iColumn>=0 && ${isBinary('pExpr->y.pTab->aCol[pExpr->iColumn]')} ){\n        sqlite3VdbeAddOp2(v, OP_SCopy, pExpr->iTable, target);\n        sqlite3VdbeAddOp2(v, OP_Cast, target, SQLITE_AFF_JSON);\n        return target;\n      }\n      return pExpr->iTable;\n    }\n`,
  ],
  [
    '      sqlite3VdbeAddOp1(v, OP_RealAffinity, iStorage);\n    }\n',
    `      sqlite3VdbeAddOp1(v, OP_RealAffinity, iStorage);\n    }else if( ${isBinary('pTab->aCol[i]')} ){\n      sqlite3VdbeAddOp2(v, OP_Cast, pTop->regData + sqlite3TableColumnToStorage(pTab, i), SQLITE_AFF_JSON);\n    }\n`,
  ],
  // Aggregates keep the stored form. A value is converted when an expression uses a column of the aggregate.
  [
    '      if( !pAggInfo->directMode ){\n        return AggInfoColumnReg(pAggInfo, pExpr->iAgg);\n',
    `      if( !pAggInfo->directMode ){\n        if( pExpr->op2!=OPFLAG_JSONARG && pCol->pTab && pCol->iColumn>=0 && ${isBinary('pCol->pTab->aCol[pCol->iColumn]')} ){\n          sqlite3VdbeAddOp2(v, OP_SCopy, AggInfoColumnReg(pAggInfo, pExpr->iAgg), target);\n          sqlite3VdbeAddOp2(v, OP_Cast, target, SQLITE_AFF_JSON);\n          return target;\n        }\n        return AggInfoColumnReg(pAggInfo, pExpr->iAgg);\n`,
  ],
  [
    '          if( pTab->aCol[pCol->iColumn].affinity==SQLITE_AFF_REAL ){\n            sqlite3VdbeAddOp1(v, OP_RealAffinity, target);\n          }\n',
    `          if( pTab->aCol[pCol->iColumn].affinity==SQLITE_AFF_REAL ){\n            sqlite3VdbeAddOp1(v, OP_RealAffinity, target);\n          }\n          if( ${isBinary('pTab->aCol[pCol->iColumn]')} && pExpr->op2!=OPFLAG_JSONARG ) sqlite3VdbeAddOp2(v, OP_Cast, target, SQLITE_AFF_JSON);\n`,
  ],
  ['    sqlite3ExprCode(pParse, pC->pCExpr, AggInfoColumnReg(pAggInfo,i));\n', '    sqlite3ExprCode(pParse, pC->pCExpr, AggInfoColumnReg(pAggInfo,i));\n    rockpoolRaw(v);\n'],
  ['            sqlite3ExprCode(pParse, pCol->pCExpr, j + regBase);\n', '            sqlite3ExprCode(pParse, pCol->pCExpr, j + regBase);\n            rockpoolRaw(v);\n'],
  // Functions and operators that need no text read the stored form.
  [
    '        if( (pDef->funcFlags & (SQLITE_FUNC_LENGTH|SQLITE_FUNC_TYPEOF))!=0 ){\n          u8 exprOp;\n',
    '        if( rockpoolReadsJson(pDef) ) rockpoolWantRaw(pFarg->a[0].pExpr);\n        if( (pDef->funcFlags & (SQLITE_FUNC_LENGTH|SQLITE_FUNC_TYPEOF))!=0 ){\n          u8 exprOp;\n',
  ],
  ['      sqlite3VdbeAddOp2(v, OP_Integer, 1, target);\n      r1 = sqlite3ExprCodeTemp(pParse, pExpr->pLeft, &regFree1);\n', '      sqlite3VdbeAddOp2(v, OP_Integer, 1, target);\n      rockpoolWantRaw(pExpr->pLeft);\n      r1 = sqlite3ExprCodeTemp(pParse, pExpr->pLeft, &regFree1);\n'],
  [
    '      assert( TK_NOTNULL==OP_NotNull ); testcase( op==TK_NOTNULL );\n      r1 = sqlite3ExprCodeTemp(pParse, pExpr->pLeft, &regFree1);\n      assert( regFree1==0 || regFree1==r1 );\n',
    '      rockpoolWantRaw(pExpr->pLeft);\n      r1 = sqlite3ExprCodeTemp(pParse, pExpr->pLeft, &regFree1);\n      assert( regFree1==0 || regFree1==r1 );\n',
  ],
  [
    '    case TK_NOTNULL: {\n      r1 = sqlite3ExprCodeTemp(pParse, pExpr->pLeft, &regFree1);\n',
    '    case TK_NOTNULL: {\n      rockpoolWantRaw(pExpr->pLeft);\n      r1 = sqlite3ExprCodeTemp(pParse, pExpr->pLeft, &regFree1);\n',
  ],
  [
    '        sqlite3ExprDup(pParse->db, pArgs->a[j].pExpr, 0), 0);\n    pTerm = sqlite3PExpr(pParse, TK_EQ, pColRef, pRhs);\n',
    '        sqlite3ExprDup(pParse->db, pArgs->a[j].pExpr, 0), 0);\n    if( j==0 && pRhs && pRhs->pLeft && sqlite3_strnicmp(pTab->u.vtab.azArg[0], "json", 4)==0 ) rockpoolWantRaw(pRhs->pLeft);\n    pTerm = sqlite3PExpr(pParse, TK_EQ, pColRef, pRhs);\n',
  ],
  ['        sqlite3_result_blob(ctx, p->sParse.aBlob, p->sParse.nBlob,\n                            SQLITE_TRANSIENT);\n      }else{\n        sqlite3_result_text(ctx, p->sParse.zJson, -1, SQLITE_TRANSIENT);\n', '        jsonReturnTextJsonFromBlob(ctx, p->sParse.aBlob, p->sParse.nBlob);\n      }else{\n        sqlite3_result_text(ctx, p->sParse.zJson, -1, SQLITE_TRANSIENT);\n'],
  ['        sqlite3ExprCodeGetColumnOfTable(v, pTab, iDataCur, i, k);\n        bFinishSeek = 0;\n', '        sqlite3ExprCodeGetColumnOfTable(v, pTab, iDataCur, i, k);\n        rockpoolRaw(v);\n        bFinishSeek = 0;\n'],
  ['        }else if( aXRef[i]<0 && i!=pTab->iPKey ){\n          sqlite3ExprCodeGetColumnOfTable(v, pTab, iDataCur, i, k);\n', '        }else if( aXRef[i]<0 && i!=pTab->iPKey ){\n          sqlite3ExprCodeGetColumnOfTable(v, pTab, iDataCur, i, k);\n          rockpoolRaw(v);\n'],
  ['          sqlite3ExprCodeGetColumnOfTable(v, pTab, iCur, i, regOut);\n          pTab->aCol[i].affinity = aff;\n', '          sqlite3ExprCodeGetColumnOfTable(v, pTab, iCur, i, regOut);\n          rockpoolRaw(v);\n          pTab->aCol[i].affinity = aff;\n'],
  // SQLite copies records between two tables only if their columns have the same form.
  ['    Column *pDestCol = &pDest->aCol[i];\n    Column *pSrcCol = &pSrc->aCol[i];\n#ifdef SQLITE_ENABLE_HIDDEN_COLUMNS\n', '    Column *pDestCol = &pDest->aCol[i];\n    Column *pSrcCol = &pSrc->aCol[i];\n    if( (pDestCol->colFlags ^ pSrcCol->colFlags) & COLFLAG_JSON ) return 0;\n#ifdef SQLITE_ENABLE_HIDDEN_COLUMNS\n'],
];

/** @param {string} amalgamation @returns {string} the amalgamation with the calls of scan.c and json-storage.c */
export function withHooks(amalgamation) {
  return hooked(withJsonHooks(amalgamation), HOOKS);
}

/** @param {string} amalgamation @returns {string} the amalgamation with the calls of json-storage.c */
export function withJsonHooks(amalgamation) {
  return hooked(amalgamation, JSON_HOOKS);
}

/** @param {string} amalgamation @param {typeof HOOKS} hooks @returns {string} */
function hooked(amalgamation, hooks) {
  return hooks.reduce((text, [find, replace]) => {
    if (text.split(find).length !== 2) throw new Error(`this version of SQLite does not have the text of a hook exactly once: ${find}`);
    return text.replace(find, () => replace);
  }, amalgamation);
}
