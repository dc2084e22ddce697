/**
 * Writes the two sample statements that the app offers for trying an import. The household, its bank and every payee
 * are invented. Run from any folder with `node samples/generate.ts`; the output is always the same, byte for byte.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { harbourChecking } from './harbour-checking.ts';
import { meridianGiro } from './meridian-giro.ts';

const folder = new URL('../public/samples/', import.meta.url);
mkdirSync(folder, { recursive: true });
// All characters used are below U+0100, where Windows-1252 and Latin-1 agree.
writeFileSync(new URL('meridian-giro.csv', folder), Buffer.from(meridianGiro(), 'latin1'));
writeFileSync(new URL('harbour-checking.csv', folder), harbourChecking(), 'utf8');
