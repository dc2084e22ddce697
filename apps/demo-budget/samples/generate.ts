/**
 * Writes the two sample exports that the app offers to try an import with. The household, its bank and every payee are
 * made up. Run it from anywhere with `node samples/generate.ts`; it always writes the same bytes.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { harbourChecking } from './harbour-checking.ts';
import { meridianGiro } from './meridian-giro.ts';

const folder = new URL('../public/samples/', import.meta.url);
mkdirSync(folder, { recursive: true });
// Every character used here is below U+0100, where Windows-1252 and Latin-1 agree.
writeFileSync(new URL('meridian-giro.csv', folder), Buffer.from(meridianGiro(), 'latin1'));
writeFileSync(new URL('harbour-checking.csv', folder), harbourChecking(), 'utf8');
