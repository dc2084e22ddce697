// Where SQLite calls scan.c. Each place must occur exactly once in the amalgamation, so that another version of SQLite fails to build instead of running without scans.

/** @type {readonly [find: string, replace: string][]} */
const HOOKS = [
  // A statement owns the translations of its loops.
  ['  u32 aCounter[9];        /* Counters used by sqlite3_stmt_status() */\n', '  u32 aCounter[9];        /* Counters used by sqlite3_stmt_status() */\n  struct RpScan *pRockpool;\n  u8 eRockpool;\n'],
  [
    'static void closeAllCursors(Vdbe *p){\n',
    'static int rockpoolScan(Vdbe*, Op*, VdbeCursor*);\nstatic int rockpoolGroup(Vdbe*, Op*);\nstatic void rockpoolEnd(Vdbe*);\nstatic void rockpoolFree(Vdbe*);\nstatic int rpScanMode;\n' +
      'static void closeAllCursors(Vdbe *p){\n  if( p->pRockpool ) rockpoolEnd(p);\n',
  ],
  ['  vdbeFreeOpArray(db, p->aOp, p->nOp);\n  if( p->zSql ) sqlite3DbNNFreeNN(db, p->zSql);\n', '  rockpoolFree(p);\n  vdbeFreeOpArray(db, p->aOp, p->nOp);\n  if( p->zSql ) sqlite3DbNNFreeNN(db, p->zSql);\n'],
  // After a step of a loop. A statement without translations is looked at once, after 64 steps.
  [
    '  rc = sqlite3BtreeNext(pC->uc.pCursor, pOp->p3);\n\nnext_tail:\n',
    '  rc = sqlite3BtreeNext(pC->uc.pCursor, pOp->p3);\n' +
      '  if( rc==SQLITE_OK && (p->pRockpool!=0 || (p->eRockpool==0 && ((p->aCounter[pOp->p5] & 63)==63 || rpScanMode==2))) ){\n    pC->nullRow = 0;\n    rc = rockpoolScan(p, pOp, pC);\n  }\n\nnext_tail:\n',
  ],
  [
    '    rc = sqlite3BtreeFirst(pCrsr, &res);\n    pC->deferredMoveto = 0;\n    pC->cacheStatus = CACHE_STALE;\n  }\n  if( rc ) goto abort_due_to_error;\n  pC->nullRow = (u8)res;\n',
    '    rc = sqlite3BtreeFirst(pCrsr, &res);\n    pC->deferredMoveto = 0;\n    pC->cacheStatus = CACHE_STALE;\n' +
      '    if( rc==SQLITE_OK && res==0 && pOp->p2>0 && (p->pRockpool!=0 || rpScanMode==2) ){\n      pC->nullRow = 0;\n      rc = rockpoolScan(p, pOp, pC);\n      if( rc==SQLITE_DONE ){\n        rc = SQLITE_OK;\n        res = 1;\n      }\n    }\n' +
      '  }\n  if( rc ) goto abort_due_to_error;\n  pC->nullRow = (u8)res;\n',
  ],
  ['  rc = sqlite3VdbeSorterNext(db, pC);\n  goto next_tail;\n', '  if( p->pRockpool!=0 && (rc = rockpoolGroup(p, pOp))!=SQLITE_OK ) goto abort_due_to_error;\n  rc = sqlite3VdbeSorterNext(db, pC);\n  goto next_tail;\n'],
];

/** @param {string} amalgamation @returns {string} the amalgamation with calls of scan.c */
export function withHooks(amalgamation) {
  return HOOKS.reduce((text, [find, replace]) => {
    if (text.split(find).length !== 2) throw new Error(`SQLite has changed where scan.c is called: ${find}`);
    return text.replace(find, () => replace);
  }, amalgamation);
}
