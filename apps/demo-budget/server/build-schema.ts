/**
 * Writes the schema file that a sync server reads, `dist/schema.json`. The build runs this after Vite, which empties
 * the folder.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { encodeSchema } from '@rockpool/client/schema';
import { schema } from '../src/schema.ts';

const folder = new URL('../dist/', import.meta.url);
mkdirSync(folder, { recursive: true });
writeFileSync(new URL('schema.json', folder), encodeSchema(schema));
