/*
** Damaged pages and faults, for scan-fuzz.c. A query over a damaged copy of the database may have any result, but must
** read and write no memory of others. A query that fails, because memory runs out, the storage cannot be read or
** sqlite3_interrupt() was called, must report it, and the next run must have the result that SQLite has.
*/
#include <signal.h>
#include <unistd.h>

/* The copy of the database that queries run over. */
static struct { u8 *a; i64 n; u32 nPage; } image;
static u32 faultSeed = 1;
static u32 nFault, nFailed, nOther, nReported;
/* The connection of the current query. */
static sqlite3 *faultDb;

static u32 faultRandom(u32 n){
  faultSeed ^= faultSeed<<13;
  faultSeed ^= faultSeed>>17;
  faultSeed ^= faultSeed<<5;
  return n ? faultSeed % n : 0;
}
static void forgetImage(void){
  sqlite3_free(image.a);
  image.a = 0;
}
static sqlite3 *openImage(u8 *a){
  sqlite3 *db;
  sqlite3_open(":memory:", &db);
  if( sqlite3_deserialize(db, "main", a, image.n, image.n, SQLITE_DESERIALIZE_FREEONCLOSE|SQLITE_DESERIALIZE_RESIZEABLE) ) exit(2);
  return db;
}
static u8 *copyImage(sqlite3 *db){
  u8 *a;
  if( image.a==0 ){
    image.a = sqlite3_serialize(db, "main", &image.n, 0);
    image.nPage = get2byte(&image.a[16]);
    if( image.nPage==1 ) image.nPage = 65536;
  }
  a = sqlite3_malloc64((u64)image.n);
  memcpy(a, image.a, (size_t)image.n);
  return a;
}

/* ---------------------------------------------------------------- Damaged pages */

/* The place of a cell with overflow pages in a leaf page of a table, or 0. */
static u32 findLargeCell(const u8 *a, u32 nPage){
  u32 nCell = a[0]==13 ? get2byte(&a[3]) : 0, i, nPayload;
  for(i=0; i<nCell && 8+2*i+2<=nPage; i++){
    u32 iCell = get2byte(&a[8+2*i]);
    if( iCell+40>nPage ) continue;
    getVarint32(&a[iCell], nPayload);
    if( nPayload>nPage-35 ) return iCell;
  }
  return 0;
}
/*
** Gives a record with overflow pages nearly 4 GB, and makes a circle of its overflow pages: page iCircle follows
** itself.
*/
static void makeEndless(u8 *aImage, u32 nPage, u32 iCircle){
  u32 n = (u32)(image.n/nPage), nMin = (nPage-12)*32/255-23, iCell = 0, nLocal, nPayload, iPayload, i;
  u8 *a = aImage;
  u64 iRowid;
  for(i=0; i<100 && iCell==0; i++){
    a = &aImage[(size_t)(1+faultRandom(n-1))*nPage];
    iCell = findLargeCell(a, nPage);
  }
  if( iCell==0 ) return;
  n = getVarint32(&a[iCell], nPayload);
  memmove(&a[iCell+5], &a[iCell+n], MIN(nPage-iCell-5, 2*nMin));
  nPayload = 0xfffffff0 + faultRandom(16);
  for(i=0; i<5; i++) a[iCell+i] = (u8)((nPayload >> 7*(4-i)) & 0x7f) | (i<4 ? 0x80 : 0);
  nLocal = nMin + (nPayload-nMin) % (nPage-4);
  if( nLocal>nPage-35 ) nLocal = nMin;
  iPayload = iCell + 5 + sqlite3GetVarint(&a[iCell+5], &iRowid);
  if( iPayload+nLocal+4<=nPage ) put4byte(&a[iPayload+nLocal], iCircle);
  put4byte(&aImage[(size_t)(iCircle-1)*nPage], iCircle);
}

/* Changes a few bytes: mostly of headers, of the places of cells, and of the sizes and headers of their records. */
static void damagePage(u8 *aImage, u32 iPage, u32 nPage){
  u8 *a = &aImage[(size_t)iPage*nPage];
  int bFirst = iPage==0;
  static const u8 aByte[] = { 0, 1, 2, 5, 7, 10, 11, 12, 13, 0x7f, 0x80, 0x81, 0x8f, 0xff };
  u32 iHeader = bFirst ? 100 : 0, nCell = get2byte(&a[iHeader+3]), i, iCell, iPointers;
  u8 c = faultRandom(3) ? aByte[faultRandom(sizeof(aByte))] : (u8)faultRandom(256);
  iPointers = iHeader + (a[iHeader]<=5 ? 12 : 8);
  if( faultRandom(6)==0 ){
    makeEndless(aImage, nPage, 2+faultRandom((u32)(image.n/nPage)-1));
    return;
  }
  if( nCell==0 || iPointers+2*nCell>nPage || faultRandom(8)==0 ){
    a[iHeader + 12 + faultRandom(nPage-iHeader-12)] = c;
    return;
  }
  i = iPointers + 2*faultRandom(nCell);
  iCell = get2byte(&a[i]);
  switch( faultRandom(bFirst ? 1 : 8) ){
    case 0: a[i + faultRandom(2)] = c; break;
    case 1: a[faultRandom(8)] = c; break;
    case 2: put2byte(&a[i], faultRandom(2) ? nPage-1-faultRandom(20) : faultRandom(nPage)); break;
    case 3: for(i=0; i<5 && iCell+i<nPage; i++) a[iCell+i] = i<4 ? 0x8f + (u8)faultRandom(0x70) : (u8)faultRandom(128); break;
    case 4: if( iCell+4<nPage ) put4byte(&a[iCell + faultRandom(nPage-iCell-4)], faultRandom(40)); break;
    default: i = iCell + faultRandom(16); if( i<nPage ) a[i] = c;
  }
}

static void runDamaged(sqlite3 *db, const char *zSql){
  int k;
  for(k=0; k<4; k++){
    u8 *a = copyImage(db);
    u32 n = (u32)(image.n/image.nPage), i, nDamage = 1+faultRandom(6);
    sqlite3 *damaged;
    sqlite3_stmt *pStmt;
    Text expected = {0}, found = {0};
    for(i=0; i<nDamage; i++){
      damagePage(a, faultRandom(40)==0 ? 0 : faultRandom(n), image.nPage);
    }
    damaged = openImage(a);
    faultDb = damaged;
    alarm(20);
    rockpool_scan_mode(0, 0);
    if( sqlite3_prepare_v2(damaged, zSql, -1, &pStmt, 0)==SQLITE_OK ){
      nFault++;
      nReported += bySteps(damaged, pStmt, &expected)!=SQLITE_DONE;
      rockpool_scan_mode(2, 0);
      bySteps(damaged, pStmt, &found);
      if( expected.n!=found.n || (found.n && memcmp(expected.z, found.z, found.n)) ){
        nOther++;
        if( getenv("SHOW_DAMAGED") ){
          compare(zSql, "damaged", &expected, &found);
        }
      }
      found.n = 0;
      byRows(damaged, pStmt, &found, 1);
    }
    sqlite3_finalize(pStmt);
    alarm(0);
    faultDb = 0;
    sqlite3_close(damaged);
    free(expected.z);
    free(found.z);
  }
}

/* ---------------------------------------------------------------- Faults */

static sqlite3_mem_methods realMemory;
static sqlite3_io_methods faultyFile;
/* How many more allocations, or reads of pages, succeed. Negative: all. */
static i64 nAllocations = -1, nReads = -1;
static int bInterrupt;

static int allocationFails(void){
  if( nAllocations<0 ) return 0;
  if( nAllocations>0 ) nAllocations--;
  return nAllocations==0;
}
static void *faultyMalloc(int n){
  return allocationFails() ? 0 : realMemory.xMalloc(n);
}
static void *faultyRealloc(void *p, int n){
  return allocationFails() ? 0 : realMemory.xRealloc(p, n);
}
static int faultyRead(sqlite3_file *pFile, void *a, int n, i64 iOffset){
  if( nReads==0 && bInterrupt ) sqlite3_interrupt(faultDb);
  else if( nReads==0 ) return SQLITE_IOERR_READ;
  if( nReads>0 ) nReads--;
  return memdb_io_methods.xRead(pFile, a, n, iOffset);
}
static void onAlarm(int iSignal){
  if( faultDb ) sqlite3_interrupt(faultDb);
}
/* Call it before SQLite is initialised. */
static void prepareFaults(void){
  sqlite3_mem_methods faulty;
  sqlite3_config(SQLITE_CONFIG_GETMALLOC, &realMemory);
  faulty = realMemory;
  faulty.xMalloc = faultyMalloc;
  faulty.xRealloc = faultyRealloc;
  sqlite3_config(SQLITE_CONFIG_MALLOC, &faulty);
  signal(SIGALRM, onAlarm);
}

/* Whether bits of NULLs remain after the stored rows are forgotten. */
static int keepsNulls(void){
  u32 c, i;
  rpBeginRows(&rpRows, 0);
  for(c=0; c<rpRows.nColumnAlloc; c++){
    for(i=0; i<rpRows.nRowAlloc/8; i++){
      if( rpRows.aColumn[c].aNull[i]==0 ) continue;
      fprintf(stderr, "a NULL remains in column %u after the rows are forgotten\n", c);
      return 1;
    }
    /* The next result must allocate it again. */
    sqlite3_free(rpRows.aColumn[c].aByte);
    rpRows.aColumn[c].aByte = 0;
    rpRows.aColumn[c].nByteAlloc = 0;
  }
  return 0;
}

/* Returns 1 if a result differs. */
static int runWithFaults(sqlite3 *db, const char *zSql){
  static const char *azFault[] = { "no memory", "no memory, stored rows", "a read that fails", "a read that fails, stored rows", "an interrupt", "an interrupt, stored rows" };
  sqlite3 *copy = openImage(copyImage(db));
  sqlite3_file *pFile;
  sqlite3_stmt *pStmt;
  Text expected = {0}, expectedRows = {0}, found = {0};
  int k, bWrong = 0;
  sqlite3_file_control(copy, "main", SQLITE_FCNTL_FILE_POINTER, &pFile);
  faultyFile = memdb_io_methods;
  faultyFile.iVersion = 1;
  faultyFile.xRead = faultyRead;
  pFile->pMethods = &faultyFile;
  /* With few pages in the cache, most pages are read again in each run. */
  sqlite3_exec(copy, "PRAGMA cache_size=4", 0, 0, 0);
  faultDb = copy;
  rockpool_scan_mode(0, 0);
  sqlite3_prepare_v2(copy, zSql, -1, &pStmt, 0);
  bySteps(copy, pStmt, &expected);
  byRows(copy, pStmt, &expectedRows, 0);
  for(k=0; k<12 && !bWrong; k++){
    int bFault = k%2==0, bRows = k/2%2, eFault = k/4, rc;
    Text *pExpected = bRows ? &expectedRows : &expected;
    /* The first run of all has a fault while it translates the loops. */
    rockpool_scan_mode(2, k<6 ? 0 : 6000);
    if( bFault && eFault==0 ) nAllocations = 1+faultRandom(30);
    if( bFault && eFault>0 ) nReads = faultRandom(12);
    bInterrupt = eFault==2;
    found.n = 0;
    rc = bRows ? byRows(copy, pStmt, &found, 1) : bySteps(copy, pStmt, &found);
    nAllocations = nReads = -1;
    bWrong |= keepsNulls();
    if( bFault ){
      nFault++;
      if( rc==SQLITE_NOMEM || (rc & 0xff)==SQLITE_IOERR || rc==SQLITE_INTERRUPT ){ nFailed++; continue; }
    }
    bWrong |= compare(zSql, bFault ? azFault[k/2] : "the run after a fault", pExpected, &found);
  }
  sqlite3_finalize(pStmt);
  faultDb = 0;
  sqlite3_close(copy);
  free(expected.z);
  free(expectedRows.z);
  free(found.z);
  return bWrong;
}
