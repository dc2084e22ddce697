// Plausible mistakes in the semantics of scan.c. The generated queries find each of them: node fuzz.mjs scan 5000 --mistakes

/** @type {readonly { name: string, find: string, replace: string }[]} */
export const MISTAKES = [
  { name: 'an integer column of three bytes loses its sign', find: 'case 3: pMem->u.i = THREE_BYTE_INT(z); break;', replace: 'case 3: pMem->u.i = THREE_BYTE_INT(z) & 0xffffff; break;' },
  { name: 'a column added later is NULL instead of its default', find: "if( q->pOp->p4type==P4_MEM ){", replace: 'if( 0 ){' },
  { name: 'a REAL column yields the integer that is stored', find: 'if( q->p1->flags & (MEM_Int|MEM_IntReal) ) sqlite3VdbeMemRealify(q->p1);', replace: '' },
  { name: 'a comparison with NULL is false where it ends the row', find: 'return (pOp->p5 & SQLITE_JUMPIFNULL)!=0;', replace: 'return 0;' },
  { name: 'a comparison applies no affinity to text', find: 'if( affinity>=SQLITE_AFF_NUMERIC ){', replace: 'if( 0 ){' },
  { name: 'NOCASE groups are compared by bytes', find: 'else if( pColl->xCmp==nocaseCollatingFunc ) s->aNoCase[k] = 1;', replace: 'else if( pColl->xCmp==nocaseCollatingFunc ) s->aNoCase[k] = 0;' },
  { name: '1 and 1.0 are different groups', find: 'if( r>=-9223372036854775808.0 && r<9223372036854775808.0 && (double)(i64)r==r ){', replace: 'if( 0 ){' },
  { name: 'a sum of integers wraps around', find: '}else if( sqlite3AddInt64(&iSum, i)==0 ){', replace: '}else if( (sqlite3AddInt64(&iSum, i), 1) ){' },
  { name: 'a real resets no overflow of integers', find: '    p->ovrfl = 0;\n', replace: '' },
  { name: 'LIKE sees beyond a NUL', find: 'if( c==0 ) return 0;', replace: '' },
  { name: 'the remainder by -1 traps or overflows', find: '        if( iA==-1 ) iA = 1;\n        iB %= iA;', replace: '        if( iA==-1 ) iA = 2;\n        iB %= iA;' },
  { name: 'OFFSET counts rows that the filter drops', find: 'q->p1->u.i -= q->pOp->p3;', replace: 'q->p1->u.i -= 2;' },
  { name: 'ORDER BY DESC with LIMIT compares ascending', find: '? cmp>0 : cmp<0;', replace: '? cmp<0 : cmp<0;' },
  { name: 'a group begins without the row that it stays for', find: 'if( bNewGroup ) goto stays;', replace: 'bNewGroup = 0;' },
];
