/*
** Which pieces of SQLite's pages differ from the last commit. The VFS logs only those (docs/decisions/0035).
*/

/*
** Compares nPiece pieces of nByte bytes each, at most 32. Bit i of the result is set if piece i differs. nByte is a
** multiple of 32, and both addresses are multiples of 8.
*/
RP_EXPORT u32 rockpool_changed_pieces(const u64 *aNew, const u64 *aOld, u32 nByte, u32 nPiece){
  u32 i, changed = 0;
  const u32 nWord = nByte / sizeof(u64);
  for(i=0; i<nPiece; i++){
    const u64 *pEnd = aNew + nWord;
    const u64 *p = aNew;
    const u64 *q = aOld;
    for(; p<pEnd; p+=4, q+=4){
      if( (p[0]^q[0]) | (p[1]^q[1]) | (p[2]^q[2]) | (p[3]^q[3]) ){
        changed |= (u32)1 << i;
        break;
      }
    }
    aNew += nWord;
    aOld += nWord;
  }
  return changed;
}
