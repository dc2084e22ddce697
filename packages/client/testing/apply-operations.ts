import { expect } from 'vitest';
import type { DocumentOperation } from '../src/interface/row-history.ts';
import type { Json } from '../src/history/document-diff.ts';

/**
 * Applies the operations of a difference to a copy, and checks their old values. A changed text is assembled from its
 * ranges, and the result must equal its new value.
 */
export function applyOperations(document: Json, operations: readonly DocumentOperation[]): Json {
  const root = { root: structuredClone(document) } as Record<string, Json>;
  for (const operation of operations) {
    const steps = ['root', ...operation.path.split('/').slice(1)].map((step) =>
      step.replaceAll('~1', '/').replaceAll('~0', '~'),
    );
    const last = steps.pop() as string;
    let parent = root as Record<string, Json> | Json[];
    for (const step of steps) parent = parent[step as keyof typeof parent] as typeof parent;
    const old = parent[last as keyof typeof parent] as Json | undefined;
    if (operation.op !== 'add') expect(old).toEqual(operation.oldValue);
    if (operation.op === 'replace' && operation.text !== undefined) {
      let text = old as string;
      for (const { at, removed, inserted } of operation.text.toReversed()) {
        expect(text.slice(at, at + removed.length)).toBe(removed);
        text = text.slice(0, at) + inserted + text.slice(at + removed.length);
      }
      expect(text).toBe(operation.value);
    }
    if (operation.op === 'remove')
      if (Array.isArray(parent)) parent.splice(Number(last), 1);
      else delete parent[last];
    else if (operation.op === 'add' && Array.isArray(parent)) parent.splice(Number(last), 0, operation.value as Json);
    else (parent as Record<string, Json>)[last] = operation.value as Json;
  }
  return root['root'] as Json;
}
