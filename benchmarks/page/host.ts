import type { Adapter, OpenedDatabase, PackedPeople, Role, Settings } from '../storage/adapters/adapter.ts';
import type { Sizes } from '../storage/dataset.ts';
import { fill, type Dataset } from '../storage/fill.ts';
import type { Operations } from '../storage/operations.ts';
import type { AdapterName } from '../storage/subjects.ts';
import type { Conditions } from '../storage/workload.ts';
import { WORKLOADS } from '../storage/workloads.ts';

export interface OpenRequest {
  readonly adapter: AdapterName;
  readonly settings: Settings;
  readonly database: string;
  readonly role: Role;
}

/**
 * Where the database is: in a worker, or on the page for a subject whose API lives there. All results but `readPeople`
 * are plain data.
 */
export interface Host {
  open(request: OpenRequest): Promise<void>;
  fill(dataset: Dataset, sizes: Sizes, lacks: readonly string[]): Promise<void>;
  measure(workloadId: string, conditions: Conditions): Promise<number>;
  call(operation: keyof Operations, args: readonly unknown[]): unknown;
  /** Undefined if the subject has no `packPeople` of its own. */
  packPeople(count: number): PackedPeople | undefined;
  /** For callers on the same thread. */
  operations(): Operations;
  close(): Promise<void>;
}

export type Adapters = Partial<Readonly<Record<AdapterName, () => Promise<Adapter>>>>;

export function createHost(adapters: Adapters): Host {
  let opened: OpenedDatabase | undefined;

  const operations = (): Operations => {
    if (opened === undefined) throw new Error('no database is open');
    return opened.operations;
  };

  return {
    async open({ adapter, settings, database, role }) {
      const load = adapters[adapter];
      if (load === undefined) throw new Error(`the page has no adapter named ${adapter}`);
      opened = await (await load()).open(database, settings, role);
    },
    fill: (dataset, sizes, lacks) => fill(operations(), dataset, sizes, lacks),
    measure(workloadId, conditions) {
      const workload = WORKLOADS.get(workloadId);
      if (workload === undefined) throw new Error(`unknown workload "${workloadId}"`);
      return workload.measure(operations(), conditions);
    },
    call(operation, args) {
      return (operations()[operation] as (...rest: readonly unknown[]) => unknown)(...args);
    },
    operations,
    packPeople: (count) => opened?.packPeople?.(count),
    async close() {
      await opened?.operations.close();
      opened = undefined;
    },
  };
}
