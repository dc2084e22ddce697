/*
** Compares scan.c with SQLite's virtual machine, in a native build with sanitizers: node testing/fuzz.mjs scan [QUERIES] [SEED]
**
** Reads lines: "D" begins a new database, "S" with SQL changes it, "Q" with SQL is a query, "W" a write, "R" several runs
** of one statement (scan-queries.mjs). Each query runs without scans, then twice with scans in all loops from the first
** row, by steps and by stored rows, and then as in production. Given the number of a mistake, the program makes that
** mistake and runs each query as scan.property.test.ts does. Given "damage" or "faults", it runs the queries as
** scan-faults.c says.
*/
static int rpMistake;
#define RP_MISTAKE(i) (rpMistake==(i))
#include SQLITE_C
#include JSON_C
#include CAPTURE_C
#include ROWS_C
#include SCAN_C
#include LOOKUP_C
#include BATCH_C
#include <stdio.h>

typedef struct Text Text;
struct Text { char *z; size_t n, nAlloc; };
static void add(Text *t, const void *a, size_t n){
  if( t->n+n+1>t->nAlloc ){
    t->nAlloc = (t->n+n+1)*2;
    t->z = realloc(t->z, t->nAlloc);
  }
  if( n>0 ) memcpy(&t->z[t->n], a, n);
  t->n += n;
}
static void addValue(Text *t, int eType, const void *a, size_t n){
  char c = (char)('0'+eType);
  u32 n32 = (u32)n;
  add(t, &c, 1);
  add(t, &n32, 4);
  add(t, a, n);
}
static void addNumber(Text *t, i64 i, double r, int eType){
  if( eType==SQLITE_INTEGER ) addValue(t, eType, &i, 8); else addValue(t, eType, &r, 8);
}
/* These two return SQLITE_DONE or an error. */
static int bySteps(sqlite3 *db, sqlite3_stmt *pStmt, Text *t){
  int rc, i, n = sqlite3_column_count(pStmt);
  while( (rc = sqlite3_step(pStmt))==SQLITE_ROW ){
    for(i=0; i<n; i++){
      int e = sqlite3_column_type(pStmt, i);
      if( e==SQLITE_INTEGER || e==SQLITE_FLOAT ) addNumber(t, sqlite3_column_int64(pStmt, i), sqlite3_column_double(pStmt, i), e);
      else if( e==SQLITE_NULL ) addValue(t, e, "", 0);
      else{
        const void *a = e==SQLITE_TEXT ? (const void*)sqlite3_column_text(pStmt, i) : sqlite3_column_blob(pStmt, i);
        addValue(t, e, a, (size_t)sqlite3_column_bytes(pStmt, i));
      }
    }
  }
  if( rc!=SQLITE_DONE ) addValue(t, 9, sqlite3_errmsg(db), strlen(sqlite3_errmsg(db)));
  sqlite3_reset(pStmt);
  return rc;
}
/* Compares numbers as doubles, and skips text that is not UTF-8: stored rows hold doubles for integers and replace such text. */
static int byRows(sqlite3 *db, sqlite3_stmt *pStmt, Text *t, int bTake){
  int rc, n = sqlite3_column_count(pStmt), bFirst = 1;
  u32 i, c, iBytes;
  if( !bTake ){
    while( (rc = sqlite3_step(pStmt))==SQLITE_ROW ){
      for(c=0; c<(u32)n; c++){
        int e = sqlite3_column_type(pStmt, (int)c);
        if( e==SQLITE_INTEGER || e==SQLITE_FLOAT ) addNumber(t, 0, sqlite3_column_double(pStmt, (int)c), SQLITE_FLOAT);
        else if( e==SQLITE_NULL ) addValue(t, e, "", 0);
        else{
          const u8 *a = e==SQLITE_TEXT ? sqlite3_column_text(pStmt, (int)c) : sqlite3_column_blob(pStmt, (int)c);
          iBytes = (u32)sqlite3_column_bytes(pStmt, (int)c);
          if( e==SQLITE_TEXT && rpUnits(a, iBytes)<0 ) addValue(t, e, "?", 1); else addValue(t, e, a, iBytes);
        }
      }
    }
  }else{
    do{
      rc = rockpool_rows_take(pStmt, bFirst, 0xffffffff);
      bFirst = 1;
      u32 *aByte = calloc((size_t)n+1, 4), *aUnit = calloc((size_t)n+1, 4);
      for(i=0; i<rpRows.nRow; i++){
        for(c=0; c<(u32)n; c++){
          RpColumn *p = &rpRows.aColumn[c];
          u64 range;
          int bNull = p->eKind==RP_NULL || (p->bNull && (p->aNull[i>>3] & (1<<(i&7)))) || (p->eKind==RP_MIXED && p->aTag[i]==RP_TAG_NULL);
          memcpy(&range, &p->aNumber[i], 8);
          if( bNull ) addValue(t, SQLITE_NULL, "", 0);
          else if( p->eKind==RP_NUMBER || (p->eKind==RP_MIXED && p->aTag[i]==RP_TAG_REAL) ) addNumber(t, 0, p->aNumber[i], SQLITE_FLOAT);
          else if( p->eKind==RP_MIXED && p->aTag[i]==RP_TAG_INTEGER ) addNumber(t, 0, (double)(i64)range, SQLITE_FLOAT);
          else{
            int bText = p->eKind==RP_TEXT || (p->eKind==RP_MIXED && p->aTag[i]==RP_TAG_TEXT);
            u32 iStart = aByte[c], nByte = 0;
            if( p->eKind==RP_MIXED ){ iStart = (u32)range; nByte = (u32)(range>>32); }
            else if( p->eKind==RP_BLOB ) nByte = p->aEnd[i]-iStart;
            else while( aUnit[c]<p->aEnd[i] ){ int k = rpCharacter(&p->aByte[iStart+nByte], &p->aByte[p->nByte]); if( k<0 ) k = -k; nByte += (u32)k; aUnit[c] += k==4 ? 2 : 1; }
            if( p->eKind!=RP_MIXED ) aByte[c] += nByte;
            { int bOdd = bText && (rpUnits(&p->aByte[iStart], nByte)<0); u32 k; for(k=0; bText && k+2<nByte; k++) if( memcmp(&p->aByte[iStart+k], "\xef\xbf\xbd", 3)==0 ) bOdd = 1;
              if( bOdd ) addValue(t, SQLITE_TEXT, "?", 1); else addValue(t, bText ? SQLITE_TEXT : SQLITE_BLOB, &p->aByte[iStart], nByte); }
          }
        }
      }
      free(aByte);
      free(aUnit);
    }while( rc==RP_FULL );
  }
  if( rc!=SQLITE_DONE ) addValue(t, 9, sqlite3_errmsg(db), strlen(sqlite3_errmsg(db)));
  sqlite3_reset(pStmt);
  return rc;
}
static void show(const char *zName, Text *t){
  size_t i;
  fprintf(stderr, "%s (%zu): ", zName, t->n);
  for(i=0; i<t->n && i<600; i++){ u8 c = (u8)t->z[i]; if( c>=32 && c<127 ) fputc(c, stderr); else fprintf(stderr, "\\%02x", c); }
  fputc('\n', stderr);
}
static int compare(const char *zSql, const char *zHow, Text *a, Text *b){
  if( a->n==b->n && (a->n==0 || memcmp(a->z, b->z, a->n)==0) ) return 0;
  fprintf(stderr, "%s differs: %s\n", zHow, zSql);
  show("SQLite", a);
  show("scan  ", b);
  return 1;
}
/* Returns the part of a line up to the next tab, and moves *pz behind it. Returns 0 at the end. */
static char *nextPart(char **pz){
  char *z = *pz, *zEnd;
  if( z==0 ) return 0;
  zEnd = strchr(z, '\t');
  if( zEnd ) *zEnd++ = 0;
  *pz = zEnd;
  return z;
}
static void execute(sqlite3 *db, const char *zSql){
  rockpool_scan_mode(0, 0);
  sqlite3_exec(db, zSql, 0, 0, 0);
}

/* Runs a statement that writes, stores what it returns and the rows of all tables after it, and undoes it. */
static void writeAndUndo(sqlite3 *db, const char *zSql, int eMode, Text *t){
  static const char *azTable[] = { "SELECT * FROM t", "SELECT * FROM u", "SELECT * FROM v" };
  sqlite3_stmt *pStmt;
  int i;
  t->n = 0;
  execute(db, "SAVEPOINT w");
  if( sqlite3_prepare_v2(db, zSql, -1, &pStmt, 0) ){ fprintf(stderr, "%s: %s\n", sqlite3_errmsg(db), zSql); exit(1); }
  rockpool_scan_mode(eMode, 0);
  bySteps(db, pStmt, t);
  sqlite3_finalize(pStmt);
  rockpool_scan_mode(0, 0);
  for(i=0; i<3; i++){
    sqlite3_prepare_v2(db, azTable[i], -1, &pStmt, 0);
    bySteps(db, pStmt, t);
    sqlite3_finalize(pStmt);
  }
  execute(db, "ROLLBACK TO w");
  execute(db, "RELEASE w");
}
static int compareWrites(sqlite3 *db, const char *zSql){
  Text expected = {0}, found = {0};
  int eMode, bWrong = 0;
  writeAndUndo(db, zSql, 0, &expected);
  for(eMode=2; eMode>0 && !bWrong; eMode--){
    writeAndUndo(db, zSql, eMode, &found);
    bWrong = compare(zSql, "write", &expected, &found);
  }
  free(expected.z);
  free(found.z);
  return bWrong;
}

static void bind(sqlite3 *db, sqlite3_stmt *pStmt, const char *zValues){
  char *zSql = sqlite3_mprintf("SELECT %s", zValues);
  sqlite3_stmt *pValues;
  int i;
  if( sqlite3_prepare_v2(db, zSql, -1, &pValues, 0) || sqlite3_step(pValues)!=SQLITE_ROW ){ fprintf(stderr, "%s: %s\n", sqlite3_errmsg(db), zSql); exit(1); }
  for(i=0; i<sqlite3_column_count(pValues); i++) sqlite3_bind_value(pStmt, i+1, sqlite3_column_value(pValues, i));
  sqlite3_finalize(pValues);
  sqlite3_free(zSql);
}
/* Runs one prepared statement several times, with other parameters and after other changes of the database. */
static int compareRuns(sqlite3 *db, char *zParts){
  char *zSql = nextPart(&zParts), *zPart;
  sqlite3_stmt *apStmt[2];
  Text expected = {0}, expectedRows = {0}, found = {0};
  int i, k, bWrong = 0;
  for(i=0; i<2; i++) if( sqlite3_prepare_v2(db, zSql, -1, &apStmt[i], 0) ){ fprintf(stderr, "%s: %s\n", sqlite3_errmsg(db), zSql); exit(1); }
  for(k=0; !bWrong && (zPart = nextPart(&zParts))!=0; k++){
    sqlite3_stmt *pFresh;
    if( *zPart=='!' ){
      execute(db, &zPart[1]);
      continue;
    }
    rockpool_scan_mode(0, 0);
    sqlite3_prepare_v2(db, zSql, -1, &pFresh, 0);
    bind(db, pFresh, &zPart[1]);
    expected.n = expectedRows.n = 0;
    bySteps(db, pFresh, &expected);
    byRows(db, pFresh, &expectedRows, 0);
    sqlite3_finalize(pFresh);
    for(i=0; i<2 && !bWrong; i++){
      int bRows = rpMistake || (i+k)%2;
      bind(db, apStmt[i], &zPart[1]);
      rockpool_scan_mode(2-i, k%2 ? 6000 : 0);
      found.n = 0;
      if( bRows ) byRows(db, apStmt[i], &found, 1); else bySteps(db, apStmt[i], &found);
      bWrong = compare(zSql, zPart, bRows ? &expectedRows : &expected, &found);
    }
  }
  for(i=0; i<2; i++) sqlite3_finalize(apStmt[i]);
  free(expected.z);
  free(expectedRows.z);
  free(found.z);
  return bWrong;
}

#include "scan-faults.c"

int main(int nArgument, char **azArgument){
  static char zLine[1<<20];
  sqlite3 *db = 0;
  u32 nQuery = 0, nUsed = 0, nWrong = 0, nError = 0;
  Text expected = {0}, expectedRows = {0}, found = {0};
  int bDamage = nArgument>1 && strcmp(azArgument[1], "damage")==0, bFaults = nArgument>1 && strcmp(azArgument[1], "faults")==0;
  if( bDamage || bFaults ) prepareFaults();
  else if( nArgument>1 ) rpMistake = atoi(azArgument[1]);
  while( fgets(zLine, sizeof(zLine), stdin) ){
    char *zSql = zLine+2, *zError = 0;
    sqlite3_stmt *pStmt;
    size_t n = strlen(zLine);
    if( n && zLine[n-1]=='\n' ) zLine[n-1] = 0;
    if( zLine[0]=='D' || zLine[0]=='S' ) forgetImage();
    if( zLine[0]=='D' ){
      sqlite3_close(db);
      sqlite3_open(":memory:", &db);
      continue;
    }
    if( zLine[0]=='S' ){
      rockpool_scan_mode(0, 0);
      if( sqlite3_exec(db, zSql, 0, 0, &zError) ){ fprintf(stderr, "%s: %s\n", zError, zSql); return 1; }
      continue;
    }
    nQuery++;
    if( bDamage || bFaults ){
      if( zLine[0]=='Q' && bDamage ) runDamaged(db, zSql); else if( zLine[0]=='Q' ) nWrong += runWithFaults(db, zSql);
      if( nWrong>5 ) break;
      continue;
    }
    if( zLine[0]!='Q' ){
      nWrong += zLine[0]=='W' ? compareWrites(db, zSql) : compareRuns(db, zSql);
      if( nWrong>5 || (nWrong && rpMistake) ) break;
      continue;
    }
    rockpool_scan_mode(0, 0);
    if( sqlite3_prepare_v2(db, zSql, -1, &pStmt, 0) ){ fprintf(stderr, "%s: %s\n", sqlite3_errmsg(db), zSql); return 1; }
    expected.n = expectedRows.n = 0;
    bySteps(db, pStmt, &expected);
    byRows(db, pStmt, &expectedRows, 0);
    sqlite3_finalize(pStmt);
    if( expected.n && memchr(expected.z, '9', 1) ) nError++;
    sqlite3_prepare_v2(db, zSql, -1, &pStmt, 0);
    for(int k=0; k<7; k++){
      static const char *azHow[] = { "first run by steps", "second run by steps", "stored rows", "small hash", "as it pays", "as it pays, again", "stored rows as it pays" };
      int bRows = k==2 || k==6;
      if( rpMistake ){
        if( k>1 ) break;
        rockpool_scan_mode(k==0 ? 2 : 1, k==0 ? 0 : 6000);
        bRows = 1;
      }else{
        rockpool_scan_mode(k<4 ? 2 : 1, k==3 ? 6000 : 0);
      }
      found.n = 0;
      if( bRows ) byRows(db, pStmt, &found, 1); else bySteps(db, pStmt, &found);
      if( compare(zSql, azHow[k], bRows ? &expectedRows : &expected, &found) ){
        nWrong++;
        break;
      }
    }
    for(RpScan *s=((Vdbe*)pStmt)->pRockpool; s; s=s->pNextScan) if( s->bUsable ){ nUsed++; break; }
    sqlite3_finalize(pStmt);
    if( nWrong>5 || (nWrong && rpMistake) ) break;
  }
  sqlite3_close(db);
  forgetImage();
  rpBeginRows(&rpRows, 0);
  free(expected.z);
  free(expectedRows.z);
  free(found.z);
  if( bDamage ) printf("%u damaged databases, %u errors, %u results differ from those of SQLite\n", nFault, nReported, nOther);
  if( bFaults ) printf("%u runs with faults, %u failed\n", nFault, nFailed);
  printf("%u queries, %u with scans, %u with an error, %u differences\n", nQuery, nUsed, nError, nWrong);
  return nWrong>0;
}
