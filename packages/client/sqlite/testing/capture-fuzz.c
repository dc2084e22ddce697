/*
** Compares capture.c with SQLite's session extension over random transactions, in a native build with sanitizers:
**
**   node testing/fuzz.mjs capture [TRANSACTIONS] [SEED]
**
** Two connections run the same statements. One records a session, the other a capture. Both changesets must have the
** same rows, in any order, except for keys that hasEqualKeys() finds.
*/
#include SQLITE_C
#include JSON_C
#include CAPTURE_C
#include <stdio.h>

static u64 seed = 1;
static u32 rnd(u32 n){
  seed ^= seed<<13; seed ^= seed>>7; seed ^= seed<<17;
  return (u32)((seed * 0x2545F4914F6CDD1DULL) >> 33) % n;
}

static const char *SCHEMA =
  "PRAGMA foreign_keys=ON; PRAGMA recursive_triggers=ON;"
  "CREATE TABLE a(id TEXT PRIMARY KEY NOT NULL, x, y REAL, z TEXT, u UNIQUE);"
  "CREATE TABLE b(id INTEGER PRIMARY KEY, x INTEGER, y BLOB, r REAL, a TEXT REFERENCES a(id) ON DELETE CASCADE ON UPDATE CASCADE);"
  "CREATE TABLE c(l INTEGER NOT NULL, m TEXT NOT NULL, v, g INTEGER GENERATED ALWAYS AS (v+1) STORED, h GENERATED ALWAYS AS (l||m) VIRTUAL, w, PRIMARY KEY(m, l));"
  "CREATE TABLE d(k TEXT COLLATE NOCASE PRIMARY KEY NOT NULL, v NUMERIC, a TEXT REFERENCES a(id) ON DELETE SET NULL);"
  "CREATE TABLE e(v, k PRIMARY KEY NOT NULL, w) STRICT_OR_NOT;"
  "CREATE TABLE f(id INTEGER PRIMARY KEY, c1,c2,c3,c4,c5,c6,c7,c8,c9,c10,c11,c12,c13,c14,c15,c16,c17,c18,c19,c20,c21,c22,c23,c24,c25,c26,c27,c28,c29,c30,c31,c32,c33,c34,c35 REAL);"
  "CREATE TABLE plain(n);"
  "CREATE TRIGGER t1 AFTER UPDATE OF x ON a WHEN new.x=3 BEGIN UPDATE b SET x=x+1 WHERE a=new.id; INSERT INTO plain VALUES(1); END;"
  "CREATE TRIGGER t2 BEFORE DELETE ON c BEGIN INSERT OR REPLACE INTO e(k, v) VALUES(old.m, old.l); END;"
  "CREATE TRIGGER t3 AFTER INSERT ON e WHEN new.v=2 BEGIN DELETE FROM b WHERE x=2; END;"
  "INSERT INTO a(id,x,y) VALUES('0',1,1),('1',2,2.5); INSERT INTO b VALUES(1,1,x'00',1,'0'),(2,2,NULL,2.5,'1');"
  "INSERT INTO c(l,m,v,w) VALUES(1,'a',1,1),(2,'b',2,2); INSERT INTO f(id,c1,c35) VALUES(1,1,1);"
  "ALTER TABLE a ADD COLUMN added TEXT DEFAULT 'def'; ALTER TABLE b ADD COLUMN added REAL DEFAULT 7.5; ALTER TABLE b ADD COLUMN more INTEGER DEFAULT NULL;"
  "ALTER TABLE c ADD COLUMN added BLOB DEFAULT x'0102'; ALTER TABLE c ADD COLUMN gg GENERATED ALWAYS AS (added) VIRTUAL; ALTER TABLE c ADD COLUMN last NUMERIC DEFAULT '12';";
static const char *TABLES[] = {"a","b","c","d","e","f"};

static char *value(void){
  switch( rnd(14) ){
    case 0: return sqlite3_mprintf("NULL");
    case 1: return sqlite3_mprintf("%lld", (i64)((u64)rnd(0x7fffffff)<<(rnd(33))) * (rnd(2) ? 1 : -1));
    case 2: return sqlite3_mprintf("%d.5", rnd(5));
    case 3: return sqlite3_mprintf("'%d'", rnd(4));
    case 4: return sqlite3_mprintf("x'%02x%02x'", rnd(256), rnd(256));
    case 5: return sqlite3_mprintf("zeroblob(%d)", rnd(8)==0 ? rnd(20000) : rnd(100));
    case 6: return sqlite3_mprintf("printf('%%.*c', %d, 'q')", rnd(8)==0 ? rnd(20000) : rnd(200));
    case 7: return sqlite3_mprintf("%d.0", rnd(4));
    case 8: return sqlite3_mprintf("'%c%c'", "aAbB"[rnd(4)], "aAbB"[rnd(4)]);
    case 9: return sqlite3_mprintf("1e%d", rnd(400));
    default: return sqlite3_mprintf("%d", rnd(4));
  }
}
/* A key: a text or an integer. An index may treat two different keys as equal only if `odd` is set. */
static char *key(int odd){
  if( odd && rnd(30)==0 ) return rnd(2) ? sqlite3_mprintf("'%c'", "aAbB"[rnd(4)]) : sqlite3_mprintf("%d.0", rnd(6));
  return rnd(3)==0 ? sqlite3_mprintf("%d", rnd(12)) : sqlite3_mprintf("'%d'", rnd(12));
}
static const char *OR[] = {"", "OR REPLACE", "OR IGNORE", "OR FAIL", "OR REPLACE"};

static char *statement(int odd){
  const char *o = OR[rnd(5)];
  char *v = value(), *w = value(), *k = key(odd), *l = key(odd), *r = 0;
  switch( rnd(34) ){
    case 0: case 1: r = sqlite3_mprintf("INSERT %s INTO a(id,x,u) VALUES(%s,%s,%d)", o, k, v, rnd(6)); break;
    case 2: r = sqlite3_mprintf("UPDATE %s a SET x=%s, z=%s WHERE id>=%s", o, v, w, k); break;
    case 3: r = sqlite3_mprintf("UPDATE %s a SET id=%s WHERE id=%s", o, l, k); break;
    case 4: r = sqlite3_mprintf("DELETE FROM a WHERE id=%s", k); break;
    case 5: r = sqlite3_mprintf("UPDATE %s a SET u=%d WHERE id=%s", o, rnd(6), k); break;
    case 6: r = sqlite3_mprintf("INSERT INTO a(id,x) VALUES(%s,%s) ON CONFLICT(id) DO UPDATE SET x=excluded.x, added=%s", k, v, w); break;
    case 7: case 8: r = sqlite3_mprintf("INSERT %s INTO b(id,x,y,r,a) SELECT %d,%d,%s,%s,(SELECT id FROM a ORDER BY id LIMIT 1 OFFSET %d)", o, rnd(20), rnd(4), v, w, rnd(4)); break;
    case 9: r = sqlite3_mprintf("UPDATE %s b SET id=id+%d WHERE id>=%d", o, rnd(5), rnd(20)); break;
    case 10: r = sqlite3_mprintf("UPDATE b SET r=%s, added=%s, more=%s WHERE id<%d", v, w, l, rnd(20)); break;
    case 11: r = sqlite3_mprintf("DELETE FROM b WHERE id%s%d", rnd(2) ? "=" : ">", rnd(20)); break;
    case 12: case 13: r = sqlite3_mprintf("INSERT %s INTO c(l,m,v,w) VALUES(%d,%s,%s,%s)", o, rnd(4), k, v, w); break;
    case 14: r = sqlite3_mprintf("UPDATE %s c SET l=l+1 WHERE m=%s", o, k); break;
    case 15: r = sqlite3_mprintf("UPDATE %s c SET v=%s, added=%s, last=%s WHERE l=%d", o, v, w, k, rnd(4)); break;
    case 16: r = sqlite3_mprintf("DELETE FROM c WHERE m<%s", k); break;
    case 17: r = sqlite3_mprintf("DELETE FROM c"); break;
    case 18: r = sqlite3_mprintf("INSERT %s INTO d(k,v,a) SELECT %s,%s,(SELECT max(id) FROM a)", o, k, v); break;
    case 19: r = sqlite3_mprintf("UPDATE %s d SET k=%s, v=%s WHERE k=%s", o, k, v, l); break;
    case 20: r = sqlite3_mprintf("INSERT %s INTO e(k,v,w) VALUES(%s,%s,%s)", o, k, v, w); break;
    case 21: r = sqlite3_mprintf("UPDATE %s e SET v=%s,k=%s WHERE k=%s", o, v, l, k); break;
    case 22: r = sqlite3_mprintf("DELETE FROM e WHERE k>%s", k); break;
    case 23: r = sqlite3_mprintf("INSERT %s INTO f(id,c3,c33,c35) VALUES(%d,%s,%s,%s)", o, rnd(30), v, w, k); break;
    case 24: r = sqlite3_mprintf("UPDATE f SET c34=%s, c35=%s WHERE id<%d", v, w, rnd(30)); break;
    case 25: r = sqlite3_mprintf("DELETE FROM d WHERE k=%s", k); break;
    case 26: r = sqlite3_mprintf("SAVEPOINT s%d", rnd(3)); break;
    case 27: r = sqlite3_mprintf("ROLLBACK TO s%d", rnd(3)); break;
    case 28: r = sqlite3_mprintf("RELEASE s%d", rnd(3)); break;
    case 29: r = sqlite3_mprintf("WITH RECURSIVE n(i) AS (SELECT %d UNION ALL SELECT i+1 FROM n WHERE i<%d) INSERT %s INTO f(id,c1) SELECT (i*%d)%%97,%s FROM n", rnd(20), rnd(120), o, rnd(50)+1, v); break;
    case 30: r = sqlite3_mprintf("DELETE FROM f WHERE id%%%d=0", rnd(5)+1); break;
    case 31: r = sqlite3_mprintf("UPDATE OR REPLACE f SET id=id*%d%%%d", rnd(3)+1, rnd(60)+30); break;
    case 32: r = sqlite3_mprintf("INSERT INTO plain VALUES(%s)", v); break;
    case 33: r = rnd(20) ? sqlite3_mprintf("DELETE FROM plain") : sqlite3_mprintf("DELETE FROM b"); break;
  }
  sqlite3_free(v); sqlite3_free(w); sqlite3_free(k); sqlite3_free(l);
  return r;
}

/* ---- comparison ---- */
typedef struct Row Row;
struct Row { const char *zTab; int nTab; const u8 *a; u32 n; int hasEqualKey; };
static int compareRows(const void *x, const void *y){
  const Row *a = x, *b = y;
  int c = a->nTab!=b->nTab ? a->nTab-b->nTab : memcmp(a->zTab, b->zTab, a->nTab);
  if( c==0 ) c = memcmp(a->a, b->a, MIN(a->n, b->n));
  return c ? c : (int)a->n - (int)b->n;
}
static u32 valueEnd(const u8 *a, u32 i){
  u64 n; int k;
  switch( a[i++] ){
    case 1: case 2: return i+8;
    case 3: case 4: k = sqlite3GetVarint(&a[i], &n); return i+k+(u32)n;
    default: return i;
  }
}
static Row *split(u8 *a, u32 n, u32 *pn){
  Row *aRow = 0; u32 nRow = 0, nAlloc = 0, i = 0; const char *zTab = 0; const u8 *abPk = 0; u64 nCol = 0;
  while( i<n ){
    if( a[i]=='T' ){
      i++; i += sqlite3GetVarint(&a[i], &nCol); abPk = &a[i]; i += nCol; zTab = (char*)&a[i]; i += strlen(zTab)+1;
    }else{
      u32 start = i, c, m = (a[i]==SQLITE_UPDATE ? 2 : 1)*nCol; int hasEqualKey = 0;
      a[i+1] = 0;  /* indirect */
      for(i+=2, c=0; c<m; c++){ if( abPk[c%nCol] && (a[i]==SQLITE_FLOAT || (c>=nCol && a[i]!=0)) ) hasEqualKey = 1; i = valueEnd(a, i); }
      if( nRow>=nAlloc ){ nAlloc = nAlloc*2+64; aRow = realloc(aRow, nAlloc*sizeof(Row)); }
      aRow[nRow].zTab = zTab; aRow[nRow].nTab = strlen(zTab); aRow[nRow].a = &a[start]; aRow[nRow].n = i-start; aRow[nRow].hasEqualKey = hasEqualKey; nRow++;
    }
  }
  if( i!=n ){ fprintf(stderr, "the changeset ends inside a row\n"); exit(1); }
  if( nRow>0 ) qsort(aRow, nRow, sizeof(Row), compareRows);
  *pn = nRow;
  return aRow;
}
static void dump(const char *zName, Row *a, u32 n){
  u32 i, k;
  fprintf(stderr, "%s: %u rows\n", zName, n);
  for(i=0; i<n; i++){ fprintf(stderr, "  %s ", a[i].zTab); for(k=0; k<a[i].n && k<200; k++) fprintf(stderr, "%02x", a[i].a[k]); fprintf(stderr, "\n"); }
}

/*
** Whether an index treats a key as equal to a different key, such as 1 and 1.0. An update of such a key is rejected. If
** 1.0 replaces an inserted 1, a session reports the row twice. If that insert is rolled back, a session reports 1.0.
*/
static int hasEqualKeys(const Row *a, u32 n){
  u32 i;
  for(i=0; i<n; i++) if( a[i].hasEqualKey || (i>0 && compareRows(&a[i-1], &a[i])==0) ) return 1;
  return 0;
}
static int report(u32 t, u64 base, char **all, int n, Row *x, u32 nx, Row *y, u32 ny){
  int i;
  fprintf(stderr, "transaction %u of seed %llu differs\n", t, (unsigned long long)base);
  for(i=0; i<n; i++) fprintf(stderr, "  %s;\n", all[i]);
  dump("session", x, nx);
  dump("capture", y, ny);
  return 1;
}

int main(int argc, char **argv){
  u32 transactions = argc>1 ? atoi(argv[1]) : 10000, t, i, failed = 0, rowsSeen = 0, keys = 0;
  u64 base = argc>2 ? strtoull(argv[2], 0, 10) : 1;
  sqlite3 *dbs[2] = {0, 0}; RpCapture *p = 0; char *zSchema = sqlite3_mprintf("%s", SCHEMA);
  { char *z = strstr(zSchema, " STRICT_OR_NOT"); memset(z, ' ', 14); }
  for(t=0; t<transactions; t++){
    sqlite3_session *pSession; void *aSession = 0; int nSession = 0, rc, n, odd; char *all[40]; Row *x, *y; u32 nx, ny;
    if( t%200==0 ){
      for(i=0; i<2; i++){
        if( p && i==0 ){ rockpool_capture_free(p); p = 0; }
        sqlite3_close(dbs[i]); sqlite3_open(":memory:", &dbs[i]);
        if( sqlite3_exec(dbs[i], zSchema, 0, 0, 0) ){ fprintf(stderr, "%s\n", sqlite3_errmsg(dbs[i])); return 1; }
      }
      p = rockpool_capture_new(dbs[1]);
      for(i=0; i<6; i++) rockpool_capture_table(p, TABLES[i]);
    }
    seed = (base + t) * 0x9E3779B97F4A7C15ULL | 1; rnd(2); rnd(2);
    odd = rnd(4)==0;
    n = 1 + rnd(rnd(4)==0 ? 39 : 6);
    for(i=0; i<2; i++) sqlite3_exec(dbs[i], "BEGIN IMMEDIATE", 0, 0, 0);
    sqlite3session_create(dbs[0], "main", &pSession);
    for(i=0; i<6; i++) sqlite3session_attach(pSession, TABLES[i]);
    rockpool_capture_begin(p);
    for(i=0; i<(u32)n; i++){
      int r0, r1;
      all[i] = statement(odd);
      r0 = sqlite3_exec(dbs[0], all[i], 0, 0, 0); r1 = sqlite3_exec(dbs[1], all[i], 0, 0, 0);
      if( r0!=r1 ){ fprintf(stderr, "results differ: %d %d: %s\n", r0, r1, all[i]); return 1; }
      if( rnd(10)==0 ){ u32 aResult[2]; rockpool_capture_take(p, aResult); }
    }
    rc = sqlite3session_changeset(pSession, &nSession, &aSession);
    { u32 aResult[2]; int rc2 = rockpool_capture_take(p, aResult);
      if( rc || rc2 ){ fprintf(stderr, "transaction %u: session %d, capture %d\n", t, rc, rc2); return 1; } }
    x = split(aSession, nSession, &nx); y = split(p->aOut, p->nOut, &ny);
    rowsSeen += ny;
    if( hasEqualKeys(x, nx) || hasEqualKeys(y, ny) ){
      keys++;
      if( !hasEqualKeys(x, nx) ) failed += report(t, base, all, n, x, nx, y, ny);
    }else{
      int differ = nx!=ny;
      for(i=0; !differ && i<nx; i++) differ = compareRows(&x[i], &y[i])!=0;
      if( differ ) failed += report(t, base, all, n, x, nx, y, ny);
    }
    if( failed>=3 ) return 1;
    free(x); free(y); sqlite3_free(aSession);
    sqlite3session_delete(pSession); rockpool_capture_end(p);
    { const char *zEnd = rnd(4)==0 ? "ROLLBACK" : "COMMIT"; for(i=0; i<2; i++) sqlite3_exec(dbs[i], zEnd, 0, 0, 0); }
    for(i=0; i<(u32)n; i++) sqlite3_free(all[i]);
  }
  if( p ) rockpool_capture_free(p);
  for(i=0; i<2; i++) sqlite3_close(dbs[i]);
  sqlite3_free(zSchema);
  printf("%u transactions, %u changed rows, %u with a key that SQLite takes for equal to the old one, %u differences\n", transactions, rowsSeen, keys, failed);
  return failed>0;
}
