// Plausible mistakes in the semantics of scan.c and its parts. The queries of scan.property.test.ts find each: node
// fuzz.mjs scan --mistakes

/**
 * `find`: a statement, which ends with a semicolon or a comment, or else an expression. `replace`: the mistake, which
 * takes its place. `file`: the file that contains `find`, by default scan.c.
 * @type {readonly { name: string, file?: string, find: string, replace: string }[]}
 */
export const MISTAKES = [
  { name: 'an integer column of three bytes loses its sign', find: 'pMem->u.i = THREE_BYTE_INT(z);', replace: 'pMem->u.i = THREE_BYTE_INT(z) & 0xffffff;' },
  { name: 'a column added later is NULL instead of its default', find: 'q->pOp->p4type==P4_MEM', replace: '0' },
  { name: 'a REAL column yields the integer that is stored', find: 'if( q->p1->flags & (MEM_Int|MEM_IntReal) ) sqlite3VdbeMemRealify(q->p1);', replace: '' },
  { name: 'a comparison with NULL is false where it ends the row', find: 'return (pOp->p5 & SQLITE_JUMPIFNULL)!=0;', replace: 'return 0;' },
  { name: 'a comparison applies no affinity to text', find: 'affinity>=SQLITE_AFF_NUMERIC', replace: '0' },
  { name: 'NOCASE groups are compared by bytes', find: 's->aNoCase[k] = 1;', replace: 's->aNoCase[k] = 0;' },
  { name: '1 and 1.0 are different groups', find: 'r>=-9223372036854775808.0 && r<9223372036854775808.0 && (double)(i64)r==r', replace: '0' },
  { name: 'a sum of integers drops what would overflow', find: 'sqlite3AddInt64(&iSum, i)==0', replace: '(sqlite3AddInt64(&iSum, i), 1)' },
  { name: 'a real resets no overflow of integers', find: 'p->ovrfl = 0;', replace: '' },
  { name: 'LIKE sees beyond a NUL', file: 'scan-batch.c', find: '/* A word that ends before the NUL was found already. */\n        return 0;', replace: '' },
  { name: 'the remainder by -1 is the one by 2', find: 'if( iA==-1 ) iA = 1;\n        iB %= iA;', replace: 'if( iA==-1 ) iA = 2;\n        iB %= iA;' },
  { name: 'OFFSET counts rows that the filter drops', find: 'q->p1->u.i -= q->pOp->p3;', replace: 'q->p1->u.i -= 2;' },
  { name: 'ORDER BY DESC with LIMIT compares ascending', find: 'if( cmp ) return (pKeyInfo->aSortFlags[i] & KEYINFO_ORDER_DESC) ? cmp>0 : cmp<0;', replace: 'if( cmp ) return cmp<0;' },
  { name: 'a group begins without the row that it stays for', find: 'if( bNewGroup ) goto stays;', replace: 'bNewGroup = 0;' },
  { name: 'a batch counts a row that ends it', file: 'scan-batch.c', find: 'rpB.nSel = j;', replace: 'rpB.nSel = j+1;' },
  { name: 'a batch has NULL pass a comparison', file: 'scan-batch.c', find: '((q->pOp->p5 & SQLITE_JUMPIFNULL)==0)<<3', replace: '1<<3' },
  { name: 'a batch gives a row from before ADD COLUMN no default', file: 'scan-batch.c', find: 'if( pStep->bDefault || d!=pEnd ) return 0;', replace: '' },
  { name: 'a batch takes the last of equal keys of a JSON object', file: 'scan-batch.c', find: 'if( iNext>=0 ) bSearch = 0;', replace: '' },
  { name: 'a batch takes a key of JSONB for a longer one', file: 'scan-batch.c', find: 'sz==p->aStep[iStep].n && memcmp(&a[j+nHeader], zKey, sz)==0', replace: 'sz<=p->aStep[iStep].n && memcmp(&a[j+nHeader], zKey, sz)==0' },
  { name: 'a batch counts the elements of JSONB from one', file: 'scan-batch.c', find: 'k==p->aStep[iStep].iIndex', replace: 'k+1==p->aStep[iStep].iIndex' },
  { name: 'a batch cuts substr() by bytes', file: 'scan-batch.c', find: 'RP_ZEROS(w) | (w & RP_HIGH)', replace: 'RP_ZEROS(w)' },
  { name: 'a batch takes the skipped columns of another row', file: 'scan-batch.c', find: '(w & p->mask)!=p->types', replace: 'p->mask==0' },
  { name: 'a batch takes all numbers of one place for one group', file: 'scan-batch.c', find: 'RP_KEYS(g)->u.i==v', replace: '1' },
  { name: 'a stored text has as many UTF-16 units as bytes', file: 'scan-batch.c', find: 'all & RP_HIGH', replace: '0' },
  { name: 'a lookup finds rows of any key of the same length', file: 'scan-lookup.c', find: 'rpIsSameKey(&pFound->key, &key, 0)', replace: 'pFound->key.eType==key.eType && pFound->key.n==key.n' },
  { name: 'a lookup treats an index that is not unique as if it were', file: 'scan-lookup.c', find: 'return IsUniqueIndex(pIndex) && pIndex->nKeyCol==1;', replace: 'return 1;' },
  { name: 'a lookup of NULL finds nothing with IS', file: 'scan-lookup.c', find: 'return pIndex ? RP_ROW_STAYS : SQLITE_OK;', replace: 'return SQLITE_OK;' },
  { name: 'a LEFT JOIN drops the row that has no match', find: 's->aLookup[q->iColumn].pRow = 0;', replace: 'goto next_row;' },
  { name: 'a LEFT JOIN has columns of the row before where there is none', find: 's->aLookup[q->iColumn].pRow = 0;', replace: '' },
  { name: 'a lookup gives a row from before ADD COLUMN no default', file: 'scan-lookup.c', find: 'q->pOp->p4type==P4_MEM', replace: '0' },
  { name: 'JSON that ends early is valid', file: 'scan-batch.c', find: 'if( z>=pEnd ) return 0; /* The text ends within the value. */', replace: 'if( z>=pEnd ) break;' },
  { name: 'a batch yields the escapes of a JSON string', file: 'scan-batch.c', find: "memchr(p->pFound, '\\\\', (size_t)(p->pFoundEnd-p->pFound))", replace: '0' },
  { name: 'a sum in a batch passes 64 bits', file: 'scan-batch.c', find: 'if( ((iSum ^ sum) & (v ^ sum))<0 ) break;', replace: '' },
  { name: 'a sum in a batch takes all integers for short ones', file: 'scan-batch.c', find: '(t = aType[i = rpB.aSel[j]])-1<4', replace: '(t = aType[i = rpB.aSel[j]])-1<9 && t!=7' },
  { name: 'a batch reads a column from where the one before it begins', file: 'scan-batch.c', find: 'd += n;', replace: 'd += n-(n>5);' },
  { name: 'a range of an index has the row after its end', find: 'res>=0', replace: 'res>1' },
  { name: 'a range of rowids has the row after its end', find: 'res = rpCompare(pOp, &p->aMem[pOp->p1], &m);', replace: 'm.u.i--; res = rpCompare(pOp, &p->aMem[pOp->p1], &m);' },
  { name: 'groups of a range begin at the first row of the table', find: 'if( p->aOp[s->iStart].opcode==OP_Rewind ) return sqlite3BtreeFirst(pCur, pbEmpty);', replace: 'return sqlite3BtreeFirst(pCur, pbEmpty);' },
  { name: 'groups of a range of rowids leave its first row out', find: 'pC->iRockpoolFirst', replace: 'pC->iRockpoolFirst+1' },
  { name: 'groups of a range of an index begin where one did before', find: 's->iSorter>=0 && s->bIndex', replace: 's->iSorter>=0 && s->bIndex && !s->bKept' },
  { name: 'the rows on inner pages of an index are left out', find: 'pCur->pPage->leaf ? pCur->pPage->nCell : iCell+1', replace: 'pCur->pPage->leaf ? pCur->pPage->nCell : iCell' },
  { name: 'an inner loop that is complete ends the join', find: 'pOp->p2!=s->iNext+1', replace: '0' },
];

/** @param {string} file @param {string} text of the file @returns {string} it with all mistakes, each made where rpMistake has its number */
export function withMistakes(file, text) {
  for (const [index, { name, file: where = 'scan.c', find, replace }] of MISTAKES.entries()) {
    if (where !== file) continue;
    if (text.split(find).length !== 2) throw new Error(`${file} must contain the text of a mistake once: ${name}`);
    const isStatement = /[;/]$/.test(find);
    const made = `RP_MISTAKE(${index + 1})`;
    text = text.replace(find, () => (isStatement ? `{ if( ${made} ){ ${replace} }else{ ${find} } }` : `(${made} ? (${replace}) : (${find}))`));
  }
  return text;
}
