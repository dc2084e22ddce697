import { setFlagsFromString } from 'node:v8';

/**
 * Makes V8 count buffers when it decides whether to collect all garbage of a thread, which it does once memory has
 * doubled. By default, each 64 MB of new buffers start a full collection, however little garbage there is; frames that
 * go through the accepting thread then delay all tenants (decision 0125). Applies to the whole process, so only the
 * command calls it; threads inherit it.
 */
export function countBuffersAsHeap(): void {
  setFlagsFromString('--external-memory-accounted-in-global-limit');
  // Without this flag, V8 waits until a small heap has grown fourfold.
  setFlagsFromString('--heap-growing-percent=100');
}
