import { writeFileSync } from 'node:fs';
import { encodeSchema } from '@rockpool/client/schema';
import { schema } from './schema.ts';

writeFileSync('schema.json', encodeSchema(schema));
