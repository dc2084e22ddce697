/*
** Row effects: whether a write to a row runs triggers, and whether it checks foreign keys and runs their actions.
**
** sqlite3_db_config() has the same switches, but each change expires every prepared statement. SQLite then compiles
** all of them again, which is a fifth of the cost of applying a delivered row. SQLite reads both switches only when it
** compiles a statement. Each statement that writes rows must run under the switches that it was compiled with.
*/

/* Not allowed in a transaction, because SQLite counts deferred foreign keys until it ends. */
RP_EXPORT int rockpool_row_effects(sqlite3 *db, int bTriggers, int bForeignKeys){
  u64 flags = (bTriggers ? SQLITE_EnableTrigger : 0) | (bForeignKeys ? SQLITE_ForeignKeys : 0);
  if( db->autoCommit==0 ) return SQLITE_MISUSE;
  db->flags = (db->flags & ~(u64)(SQLITE_EnableTrigger|SQLITE_ForeignKeys)) | flags;
  return SQLITE_OK;
}
