// The schema without any browser code: a build step of the app loads this module in Node to write the server's schema
// file.
export {
  decodeSchema,
  encodeSchema,
  type DeleteRule,
  type DocumentRule,
  type DocumentStorage,
  type ForeignKeyRule,
  type Schema,
} from '@rockpool/shared';
export { searchText } from '../search-text.ts';
export { defineSchema, type DefineSchemaOptions } from './define-schema.ts';
export { documentPath, documentPlainText } from './document-path.ts';
export type { TableHistory } from './history-rules.ts';
export type { DocumentDeclaration, ForeignKeyDeclaration, RenameDeclaration, TableMergeRules } from './merge-rules.ts';
export { versionName } from './version-name.ts';
export { matches, searchIndex, type SearchIndex, type SearchIndexOptions } from './search-index.ts';
