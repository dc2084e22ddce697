import type { Destination, StoredObject } from './destination.ts';
import { readCopyKey, readDeletedKey, sourcePrefix, type CopyName, type Level } from './object-names.ts';

/** One copy, or several copies that are stored together. All parts exist. */
export interface CopySet {
  readonly level: Level;
  readonly first: number;
  readonly last: number;
  readonly timeMs: number;
  /** The keys in the order of the parts. */
  readonly keys: readonly string[];
  readonly sizeBytes: number;
}

export interface Generation {
  readonly id: string;
  /** Null if some of its parts are missing. */
  readonly base: CopySet | null;
  readonly copies: readonly CopySet[];
  /** The keys of all its objects. */
  readonly keys: readonly string[];
}

/** The objects of one source at a destination. */
export interface CopiesOfSource {
  /** Oldest first. */
  readonly generations: readonly Generation[];
  /** When the database was deleted, ms since 1970, in order. */
  readonly deletions: readonly number[];
  readonly keys: readonly string[];
}

export async function listCopies(destination: Destination, source: string): Promise<CopiesOfSource> {
  const objects: StoredObject[] = [];
  for await (const object of destination.list(sourcePrefix(source))) objects.push(object);
  return readCopies(objects);
}

/** `objects` are those of one source, in order of their keys. */
export function readCopies(objects: readonly StoredObject[]): CopiesOfSource {
  const byGeneration = new Map<string, { readonly name: CopyName; readonly object: StoredObject }[]>();
  const deletions: number[] = [];
  for (const object of objects) {
    const name = readCopyKey(object.key);
    if (name !== null) {
      const known = byGeneration.get(name.generation);
      if (known === undefined) byGeneration.set(name.generation, [{ name, object }]);
      else known.push({ name, object });
    }
    const deletedMs = readDeletedKey(object.key);
    if (deletedMs !== null) deletions.push(deletedMs);
  }
  const generations = [...byGeneration].map(([id, members]) => {
    const sets = wholeSets(members);
    return {
      id,
      base: sets.findLast(({ level }) => level === 'base') ?? null,
      copies: sets.filter(({ level }) => level !== 'base'),
      keys: members.map(({ object }) => object.key),
    };
  });
  return { generations, deletions, keys: objects.map(({ key }) => key) };
}

function wholeSets(members: readonly { readonly name: CopyName; readonly object: StoredObject }[]): CopySet[] {
  const sets = new Map<string, { readonly name: CopyName; readonly objects: StoredObject[] }>();
  for (const { name, object } of members) {
    const { level, first, last, timeMs, parts } = name;
    const id = [level, first, last, timeMs, parts].join('-');
    const known = sets.get(id);
    if (known === undefined) sets.set(id, { name, objects: [object] });
    else known.objects.push(object);
  }
  return [...sets.values()]
    .filter(({ name, objects }) => objects.length === name.parts)
    .map(({ name: { level, first, last, timeMs }, objects }) => ({
      ...{ level, first, last, timeMs },
      keys: objects.map(({ key }) => key),
      sizeBytes: objects.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
    }));
}
