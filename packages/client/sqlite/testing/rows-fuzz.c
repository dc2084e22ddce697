/*
** Compares the rows that rows.c stores with the rows that SQLite's own functions return, in a native build with
** sanitizers: node testing/fuzz.mjs rows [RESULTS] [SEED]
*/
#include SQLITE_C
#include JSON_C
#include CAPTURE_C
#include ROWS_C
#include <stdio.h>

static u64 seed = 1;
static u32 rnd(u32 n){
  seed ^= seed<<13; seed ^= seed>>7; seed ^= seed<<17;
  return (u32)((seed * 0x2545F4914F6CDD1DULL) >> 33) % n;
}
static void fail(const char *zWhat, u32 iRow, int iColumn){
  fprintf(stderr, "%s: row %u, column %d\n", zWhat, iRow, iColumn);
  exit(1);
}
/* Compares row iStored of column c with the current row of pStmt. *piUnit, *piByte: the start of its text or bytes. */
static void checkValue(RpColumn *c, u32 iStored, sqlite3_stmt *pStmt, int iColumn, u32 iRow, u32 *piUnit, u32 *piByte){
  int eType = sqlite3_column_type(pStmt, iColumn);
  int bNull = c->bNull && (c->aNull[iStored>>3] & (1<<(iStored&7)))!=0;
  u64 range;
  memcpy(&range, &c->aNumber[iStored], 8);
  if( eType==SQLITE_NULL ){
    if( c->eKind!=RP_NULL && !bNull && !(c->eKind==RP_MIXED && c->aTag[iStored]==RP_TAG_NULL) ) fail("a NULL is not stored as NULL", iRow, iColumn);
    if( (c->eKind==RP_TEXT && c->aEnd[iStored]!=*piUnit) || (c->eKind==RP_BLOB && c->aEnd[iStored]!=*piByte) ) fail("a NULL moves the end", iRow, iColumn);
  }else if( eType==SQLITE_INTEGER || eType==SQLITE_FLOAT ){
    int bTag = c->eKind==RP_MIXED ? c->aTag[iStored] : RP_TAG_REAL;
    if( c->eKind!=RP_NUMBER && c->eKind!=RP_MIXED ) fail("a number is not stored as a number", iRow, iColumn);
    if( bTag==RP_TAG_INTEGER ? (i64)range!=sqlite3_column_int64(pStmt, iColumn) : bTag!=RP_TAG_REAL || c->aNumber[iStored]!=sqlite3_column_double(pStmt, iColumn) ) fail("the number differs", iRow, iColumn);
    if( eType==SQLITE_INTEGER && bTag==RP_TAG_REAL && (i64)c->aNumber[iStored]!=sqlite3_column_int64(pStmt, iColumn) ) fail("an integer is rounded", iRow, iColumn);
  }else{
    const u8 *a = eType==SQLITE_TEXT ? sqlite3_column_text(pStmt, iColumn) : sqlite3_column_blob(pStmt, iColumn);
    u32 n = (u32)sqlite3_column_bytes(pStmt, iColumn), i = 0;
    if( c->eKind==RP_MIXED ){
      if( c->aTag[iStored]!=(eType==SQLITE_TEXT ? RP_TAG_TEXT : RP_TAG_BLOB) ) fail("the tag differs", iRow, iColumn);
      /* Rows that were stored before the column became mixed hold replaced text. */
      if( rpUnits(a, n)>=0 && ((u32)(range>>32)!=n || (n && memcmp(&c->aByte[(u32)range], a, n))) ) fail("the value differs", iRow, iColumn);
      if( (u32)range + (u32)(range>>32) > c->nByte ) fail("the value lies outside of the bytes", iRow, iColumn);
    }else{
      u32 nUnit = 0, iStart = *piByte;
      if( c->eKind!=(eType==SQLITE_TEXT ? RP_TEXT : RP_BLOB) ) fail("the kind differs", iRow, iColumn);
      while( eType==SQLITE_TEXT && i<n ){
        int k = rpCharacter(&a[i], &a[n]);
        if( k<0 ){ if( memcmp(&c->aByte[*piByte], "\xef\xbf\xbd", 3) ) fail("invalid UTF-8 is not replaced", iRow, iColumn); *piByte += 3; nUnit++; i -= k; }
        else{ if( memcmp(&c->aByte[*piByte], &a[i], k) ) fail("the text differs", iRow, iColumn); *piByte += k; nUnit += k==4 ? 2 : 1; i += k; }
      }
      if( eType==SQLITE_BLOB ){ *piByte += n; if( n && memcmp(&c->aByte[iStart], a, n) ) fail("the blob differs", iRow, iColumn); }
      *piUnit += nUnit;
      if( c->aEnd[iStored]!=(eType==SQLITE_TEXT ? *piUnit : *piByte) ) fail("the end differs", iRow, iColumn);
    }
  }
}

int main(int argc, char **argv){
  u32 nResults = argc>1 ? (u32)atoi(argv[1]) : 2000, t, total = 0;
  sqlite3 *db;
  sqlite3_open(":memory:", &db);
  for(t=0; t<nResults; t++){
    u32 nColumn = rnd(20)==0 ? 200 : 1+rnd(6), nRow = rnd(30)==0 ? rnd(3000) : rnd(80), i, c, iRow = 0, aUnit[200], aByte[200];
    sqlite3_str *pSql = sqlite3_str_new(db);
    sqlite3_stmt *pInsert, *pOurs, *pTheirs;
    char *zSql;
    int rc, bFirst = 1;
    seed = ((argc>2 ? strtoull(argv[2], 0, 10) : 1) + t) * 0x9E3779B97F4A7C15ULL | 1;
    rnd(2);
    sqlite3_exec(db, "DROP TABLE IF EXISTS t", 0, 0, 0);
    sqlite3_str_appendall(pSql, "CREATE TABLE t(c0");
    for(c=1; c<nColumn; c++) sqlite3_str_appendf(pSql, ",c%u", c);
    sqlite3_str_appendall(pSql, ")");
    zSql = sqlite3_str_finish(pSql);
    sqlite3_exec(db, zSql, 0, 0, 0);
    sqlite3_free(zSql);
    pSql = sqlite3_str_new(db);
    sqlite3_str_appendall(pSql, "INSERT INTO t VALUES(?");
    for(c=1; c<nColumn; c++) sqlite3_str_appendall(pSql, ",?");
    sqlite3_str_appendall(pSql, ")");
    zSql = sqlite3_str_finish(pSql);
    sqlite3_prepare_v2(db, zSql, -1, &pInsert, 0);
    sqlite3_free(zSql);
    sqlite3_exec(db, "BEGIN", 0, 0, 0);
    for(i=0; i<nRow; i++){
      for(c=0; c<nColumn; c++){
        /* Most columns should have one type. */
        u32 eType = rnd(40)==0 ? rnd(6) : (c*7+t)%6;
        u8 a[64];
        u32 k, n = rnd(40);
        for(k=0; k<n; k++) a[k] = (u8)(rnd(3) ? 32+rnd(90) : rnd(256));
        switch( eType ){
          case 0: sqlite3_bind_int64(pInsert, c+1, rnd(10)==0 ? (i64)((u64)rnd(0x7fffffff)<<32 | rnd(0x7fffffff)) : (i64)rnd(1000)-500); break;
          case 1: sqlite3_bind_double(pInsert, c+1, rnd(1000)/8.0); break;
          case 2: for(k=0; k<n; k++) if( a[k]>=0x80 ) a[k] = 'x'; sqlite3_bind_text(pInsert, c+1, (char*)a, (int)n, SQLITE_TRANSIENT); break;
          case 3: sqlite3_bind_text(pInsert, c+1, (char*)a, (int)n, SQLITE_TRANSIENT); break;
          case 4: if( rnd(9)==0 ) sqlite3_bind_zeroblob(pInsert, c+1, (int)rnd(3000)); else sqlite3_bind_blob(pInsert, c+1, a, (int)n, SQLITE_TRANSIENT); break;
          default: sqlite3_bind_null(pInsert, c+1);
        }
      }
      sqlite3_step(pInsert);
      sqlite3_reset(pInsert);
    }
    sqlite3_finalize(pInsert);
    sqlite3_exec(db, "COMMIT", 0, 0, 0);
    sqlite3_prepare_v2(db, "SELECT * FROM t", -1, &pOurs, 0);
    sqlite3_prepare_v2(db, "SELECT * FROM t", -1, &pTheirs, 0);
    do{
      rc = rockpool_rows_take(pOurs, bFirst, rnd(3) ? 0xffffffff : 1+rnd(20));
      bFirst = 0;
      if( rc!=SQLITE_ROW && rc!=SQLITE_DONE && rc!=RP_FULL ){ fprintf(stderr, "result %u: %d\n", t, rc); return 1; }
      if( rc==SQLITE_ROW && rnd(2) ) continue;
      memset(aUnit, 0, sizeof(aUnit));
      memset(aByte, 0, sizeof(aByte));
      for(i=0; i<rpRows.nRow; i++, iRow++){
        if( sqlite3_step(pTheirs)!=SQLITE_ROW ) fail("there is one row too many", iRow, 0);
        for(c=0; c<nColumn; c++) checkValue(&rpRows.aColumn[c], i, pTheirs, (int)c, iRow, &aUnit[c], &aByte[c]);
      }
      bFirst = 1;
    }while( rc!=SQLITE_DONE );
    if( sqlite3_step(pTheirs)!=SQLITE_DONE || iRow!=nRow ) fail("rows are missing", iRow, 0);
    total += nRow;
    sqlite3_finalize(pOurs);
    sqlite3_finalize(pTheirs);
  }
  rpBeginRows(&rpRows, 0);
  sqlite3_close(db);
  printf("%u results, %u rows, 0 differences\n", nResults, total);
  return 0;
}
