import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** A Map or Set that is still reachable: where the product created it, and how many entries it has. */
export interface LiveContainer {
  /** For example `packages/client/src/worker/apply/pending-index.ts`. */
  readonly file: string;
  readonly size: number;
}

interface Sized {
  readonly size: number;
}

/** The line of the constructor's caller. */
const SITE = /(packages\/[\w-]+\/src\/[^:)]+):\d+:\d+\)?$/;

/**
 * Registers every Map and Set that the product creates from `install` on, including those that only a closure reaches.
 * Call `install` before the code runs whose containers matter.
 */
export class LiveContainers {
  private readonly known: { readonly container: WeakRef<Sized>; readonly file: string }[] = [];
  private readonly originals = { Map: globalThis.Map, Set: globalThis.Set };

  install(): void {
    const remember = (container: Sized, made: object): void => this.remember(container, made);
    const { Map: PlainMap, Set: PlainSet } = this.originals;
    class KnownMap<Key, Value> extends PlainMap<Key, Value> {
      constructor(entries?: Iterable<readonly [Key, Value]> | null) {
        super(entries);
        remember(this, KnownMap);
      }
    }
    class KnownSet<Item> extends PlainSet<Item> {
      constructor(items?: Iterable<Item> | null) {
        super(items);
        remember(this, KnownSet);
      }
    }
    Object.assign(globalThis, { Map: KnownMap, Set: KnownSet });
  }

  uninstall(): void {
    Object.assign(globalThis, this.originals);
  }

  /**
   * The containers that survive a garbage collection, the largest first. Call it in a separate turn of the event loop,
   * because a WeakRef keeps its target alive for the rest of a turn.
   */
  living(): LiveContainer[] {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    collect();
    const living = this.known.flatMap(({ container, file }) => {
      const size = container.deref()?.size ?? 0;
      return size === 0 ? [] : [{ file, size }];
    });
    return living.sort((a, b) => b.size - a.size);
  }

  /** `made` is the class of the container. The stack begins with the caller of the constructor. */
  private remember(container: Sized, made: object): void {
    const holder: { stack?: string } = {};
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 1;
    Error.captureStackTrace(holder, made as () => void);
    Error.stackTraceLimit = stackTraceLimit;
    const file = SITE.exec(holder.stack ?? '')?.[1];
    if (file !== undefined) this.known.push({ container: new WeakRef(container), file });
  }
}
