/*
** Row effects: whether writing a row runs triggers, and checks foreign keys and runs their actions.
**
** sqlite3_db_config() has the same switches, but each change expires every prepared statement, so that all of them are
** compiled again: a fifth of the cost of applying a delivered row. Both switches matter only when a statement is
** compiled. The caller must not run a statement that writes rows under other switches than it was compiled under.
*/

/* Outside a transaction only, because deferred foreign keys are counted until its end. */
RP_EXPORT int rockpool_row_effects(sqlite3 *db, int bTriggers, int bForeignKeys){
  u64 flags = (bTriggers ? SQLITE_EnableTrigger : 0) | (bForeignKeys ? SQLITE_ForeignKeys : 0);
  if( db->autoCommit==0 ) return SQLITE_MISUSE;
  db->flags = (db->flags & ~(u64)(SQLITE_EnableTrigger|SQLITE_ForeignKeys)) | flags;
  return SQLITE_OK;
}
