import { createHash } from 'node:crypto';
import { pageSum } from '../sqlite/page-sums.ts';
import { membersPath } from '../store/data-directory.ts';
import { CopyRecord, readCopyFacts, type CopyFacts, type NewRecord } from './copy-record.ts';
import type { Destination } from './destination.ts';
import { copyKey, newGeneration, readCopyKey, readDeletedKey, sourcePrefix } from './object-names.ts';
import { encodeSection, PAGES_PER_OBJECT, type Page, type SectionHeader } from './page-section.ts';
import { somePages, type Capture, type PageNumbers, type PageSource } from './page-source.ts';
import { StateSum } from './state-sum.ts';

/** A generation gets a new base when its copies exceed this multiple of its base, and MIN_ADDED_BYTES. */
const MAX_ADDED_PER_BASE = 2;
const MIN_ADDED_BYTES = 4 * 1024 * 1024;

/**
 * Why a generation began. `first`: the file was never copied. Only `record-damaged` means that information was lost.
 */
export type GenerationReason = 'first' | 'record-damaged' | 'other-destination' | 'scheduled' | 'many-changes';

export interface PageCopierOptions {
  readonly databasePath: string;
  readonly source: string;
  readonly destination: Destination;
  readonly now: () => number;
  /** A generation of this age that has copies gets a new base. */
  readonly maxGenerationMs: number;
  readonly onGeneration: (generation: string, reason: GenerationReason) => void;
  readonly onStored: (bytes: number) => void;
}

/**
 * Copies the pages of one file to the destination, and records what is stored. One copy runs at a time. A copy always
 * contains every page that differs from the previous copy, even if something else has changed the file.
 */
export class PageCopier {
  readonly destinationHash: string;
  private readonly options: PageCopierOptions;
  private record: CopyRecord | null = null;
  private reason: GenerationReason | null = null;

  constructor(options: PageCopierOptions) {
    this.options = options;
    this.destinationHash = hashOfDestination(options.destination);
    const record = CopyRecord.open(options.databasePath);
    if (record === null) this.reason = 'first';
    else if (record === 'damaged') this.reason = 'record-damaged';
    else if (record.facts.destination !== this.destinationHash) this.reason = 'other-destination';
    if (record instanceof CopyRecord) {
      if (this.reason === null) this.record = record;
      else record.close();
    }
  }

  /** The record of the destination. Null if no copy can be continued. */
  get facts(): CopyFacts | null {
    return this.record?.facts ?? null;
  }

  /** The checksums of pages as copied. */
  copiedSums(first: number, count: number): Uint32Array {
    return this.record?.read(first, count) ?? new Uint32Array(count);
  }

  setComplete(isComplete: boolean): void {
    this.record?.setComplete(isComplete);
  }

  /** Records the time of the last use, from which cold databases are determined. */
  setUsed(time: Date): void {
    this.record?.setUsed(time);
  }

  /** Whether earlier states would never expire if the file no longer changed. */
  get isOutdated(): boolean {
    return this.facts !== null && isOutdated(this.facts, this.options.now(), this.options.maxGenerationMs);
  }

  /** Makes the next copy begin a generation. */
  startOver(): void {
    this.reason = 'scheduled';
  }

  close(): void {
    this.record?.close();
    this.record = null;
  }

  /**
   * Copies the differences. Returns whether there were any. Rejects with `backup-unavailable`, and with the errors of
   * Capture.read; the pages then count as changed again.
   */
  async copy(source: PageSource): Promise<boolean> {
    const reason = this.reason ?? this.reasonForBase(source);
    const capture = source.begin(reason !== null);
    try {
      if (reason !== null) return await this.copyBase(source, capture, reason);
      if (this.isBetterAsBase(capture)) {
        capture.end();
        capture.giveBack();
        this.reason = 'many-changes';
        return await this.copy(source);
      }
      return await this.copyChanges(source, capture);
    } catch (error) {
      capture.end();
      capture.giveBack();
      throw error;
    } finally {
      capture.end();
    }
  }

  private reasonForBase({ pageSizeBytes }: PageSource): GenerationReason | null {
    const { record } = this;
    if (record === null) return 'first';
    const { facts } = record;
    if (facts.pageSizeBytes !== pageSizeBytes) return 'many-changes';
    const isOld = this.options.now() - facts.startedMs >= this.options.maxGenerationMs;
    return isOld || facts.addedBytes > Math.max(MIN_ADDED_BYTES, MAX_ADDED_PER_BASE * facts.baseBytes)
      ? 'scheduled'
      : null;
  }

  private isBetterAsBase({ pages, pageCount }: Capture): boolean {
    return pages.count > PAGES_PER_OBJECT && pages.count > pageCount / 2;
  }

  private async copyBase(source: PageSource, capture: Capture, reason: GenerationReason): Promise<boolean> {
    const record = CopyRecord.begin(this.options.databasePath);
    try {
      record.keep();
      const finished = record.finish(await this.storeBase(source, capture, record));
      this.close();
      this.record = finished;
    } catch (error) {
      record.discard();
      throw error;
    }
    this.reason = null;
    this.options.onGeneration(this.record.facts.generation, reason);
    return true;
  }

  /** Returns the facts of the new generation. */
  private async storeBase({ pageSizeBytes }: PageSource, capture: Capture, record: NewRecord): Promise<CopyFacts> {
    const { source, destination, now, onStored } = this.options;
    // Generations with the same time would have no order.
    const afterMs = (this.record?.facts.timeMs ?? (await newestMs(destination, source))) + 1;
    const timeMs = Math.max(capture.timeMs ?? now(), afterMs);
    const generation = newGeneration(timeMs);
    const parts = Math.max(1, Math.ceil(capture.pageCount / PAGES_PER_OBJECT));
    const sum = new StateSum();
    const before = sum.toHex();
    let baseBytes = 0;
    for (let part = 0; part < parts; part++) {
      const pages = readPages(capture, capture.pages, part);
      if (part === parts - 1) capture.end();
      for (const { number, sum: pageSum } of pages) sum.toggle(number, pageSum);
      const header = {
        ...{ first: 0, last: 0, part, parts, timeMs, pageSizeBytes, before },
        watermark: capture.watermark,
        pageCount: capture.pageCount,
        after: part === parts - 1 ? sum.toHex() : null,
      };
      const bytes = await encodeSection(header, pages);
      await destination.put(copyKey({ source, generation, level: 'base', ...header }), bytes);
      onStored(bytes.length);
      baseBytes += bytes.length;
      record.add(sumsOf(pages));
    }
    return {
      destination: this.destinationHash,
      ...{ generation, copies: 0, pageSizeBytes, timeMs, baseBytes, addedBytes: 0, isComplete: false },
      pageCount: capture.pageCount,
      stateSum: sum.toHex(),
      watermark: capture.watermark,
      startedMs: now(),
    };
  }

  private async copyChanges(source: PageSource, capture: Capture): Promise<boolean> {
    const { destination, now, onStored } = this.options;
    const record = this.record as CopyRecord;
    const { facts } = record;
    const sum = new StateSum(facts.stateSum);
    const changed = new Map<number, number>();
    const numbers = withNewPages(capture, facts.pageCount);
    const parts = Math.max(1, Math.ceil(numbers.count / PAGES_PER_OBJECT));
    const copies = facts.copies + 1;
    const timeMs = Math.max(capture.timeMs ?? now(), facts.timeMs);
    forgetPagesAfter(capture.pageCount, record, sum);
    let addedBytes = 0;
    for (let part = 0; part < parts; part++) {
      const pages = readPages(capture, numbers, part).filter(({ number, sum: newSum }) => {
        const [oldSum = 0] = record.read(number, 1);
        if (oldSum === newSum && number <= facts.pageCount) return false;
        if (number <= facts.pageCount) sum.toggle(number, oldSum);
        sum.toggle(number, newSum);
        changed.set(number, newSum);
        return true;
      });
      if (part === parts - 1) capture.end();
      // No page differs: the copy contains everything that was committed.
      if (parts === 1 && pages.length === 0 && capture.pageCount === facts.pageCount) return false;
      const header: SectionHeader = {
        ...{ first: copies, last: copies, part, parts, timeMs, before: facts.stateSum },
        watermark: capture.watermark,
        pageSizeBytes: source.pageSizeBytes,
        pageCount: capture.pageCount,
        after: part === parts - 1 ? sum.toHex() : null,
      };
      const bytes = await encodeSection(header, pages);
      await destination.put(
        copyKey({ source: this.options.source, generation: facts.generation, level: 0, ...header }),
        bytes,
      );
      onStored(bytes.length);
      addedBytes += bytes.length;
    }
    this.update(record, changed, {
      ...facts,
      copies,
      timeMs,
      pageCount: capture.pageCount,
      stateSum: sum.toHex(),
      watermark: capture.watermark,
      addedBytes: facts.addedBytes + addedBytes,
      isComplete: false,
    });
    return true;
  }

  /**
   * If this fails, for example because the disk is full, the record may have some of the new checksums. The next copy
   * would omit their pages, so it begins a new generation.
   */
  private update(record: CopyRecord, changed: ReadonlyMap<number, number>, facts: CopyFacts): void {
    try {
      record.update(changed, facts);
    } catch (error) {
      this.close();
      this.reason = 'record-damaged';
      throw error;
    }
  }
}

/**
 * Whether a generation is due for a new base, although the file may no longer change: the newest generation is kept at
 * any age, and its copies contain earlier states, such as rows that were deleted since. A base alone contains none.
 */
export function isOutdated({ copies, startedMs }: CopyFacts, nowMs: number, maxGenerationMs: number): boolean {
  return copies > 0 && nowMs - startedMs >= maxGenerationMs;
}

export function hashOfDestination({ name }: Destination): string {
  return createHash('sha256').update(name).digest('hex').slice(0, 16);
}

/** Whether the server of a data directory has copied to the destination before: it always copies the members. */
export function hasCopiedTo({
  dataDir,
  destination,
}: {
  readonly dataDir: string;
  readonly destination: Destination;
}): boolean {
  return readCopyFacts(membersPath(dataDir))?.destination === hashOfDestination(destination);
}

/**
 * The time of the newest copy or deletion at the destination. A new base is never older: if the clock was set back, the
 * base would otherwise count as older than copies made before it.
 */
async function newestMs(destination: Destination, source: string): Promise<number> {
  let newest = 0;
  for await (const { key } of destination.list(sourcePrefix(source)))
    newest = Math.max(newest, readCopyKey(key)?.timeMs ?? readDeletedKey(key) ?? 0);
  return newest;
}

/** SQLite extends a file without writing all of its new pages: pages that were freed again stay empty. */
function withNewPages({ pages, pageCount }: Capture, copiedPageCount: number): PageNumbers {
  if (pageCount <= copiedPageCount) return pages;
  const numbers = new Set(pages.slice(0, pages.count));
  for (let page = copiedPageCount + 1; page <= pageCount; page++) numbers.add(page);
  return numbers.size === pages.count ? pages : somePages([...numbers].sort((a, b) => a - b));
}

function readPages({ read }: Capture, numbers: PageNumbers, part: number): Page[] {
  return numbers.slice(part * PAGES_PER_OBJECT, (part + 1) * PAGES_PER_OBJECT).map((number) => {
    const content = read(number);
    return { number, content, sum: pageSum(content) };
  });
}

function sumsOf(pages: readonly Page[]): Map<number, number> {
  return new Map(pages.map(({ number, sum }) => [number, sum]));
}

/** The file became shorter. */
function forgetPagesAfter(pageCount: number, record: CopyRecord, sum: StateSum): void {
  for (let page = pageCount + 1; page <= record.facts.pageCount; page++) sum.toggle(page, record.read(page, 1)[0] ?? 0);
}
