import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ageOfStampUs, CLOCK_TOLERANCE_MS, type ClockContact } from './age.ts';
import { createLocalTime, type LastStamp } from './local-time.ts';
import { correctStampUs, LATEST_STAMP_US, nextLocalStampUs } from './stamp.ts';

const START_MS = 1_700_000_000_000;
const YEAR_MS = 365 * 24 * 3600 * 1000;
const DAY_MS = 24 * 3600 * 1000;

/** A device whose app writes, is closed and is opened again, and whose clock is set. True time is the server's. */
class Device {
  trueMs = START_MS;
  offsetMs: number;
  last: LastStamp = { stampUs: 0, shiftUs: 0 };
  private contactUs = 0;
  readonly written: { readonly stampUs: number; readonly trueMs: number }[] = [];
  private localTime = this.open();

  constructor(offsetMs: number) {
    this.offsetMs = offsetMs;
    this.reopen();
  }

  reopen(): void {
    this.localTime = this.open();
  }

  write(): void {
    const stampUs = nextLocalStampUs(this.localTime.nowUs(), this.last.stampUs);
    this.last = { stampUs, shiftUs: this.localTime.shiftUs(stampUs) };
    this.written.push({ stampUs, trueMs: this.trueMs });
  }

  contact(): ClockContact {
    this.contactUs = Math.floor(this.localTime.nowUs());
    return { localUs: this.contactUs, serverMs: this.trueMs };
  }

  /** The time, in ms, that the server assigns to each changeset if its log is otherwise empty. */
  placed(earlier: ClockContact | null): number[] {
    const latest = this.contact();
    let lastOfSiteUs = 0;
    return this.written.map(({ stampUs }) => {
      const ageUs = ageOfStampUs(stampUs, this.localTime.nowUs(), earlier, latest);
      // Millions of changesets are placed, and `expect` takes longer than all other steps together.
      if (!Number.isSafeInteger(ageUs)) expect.unreachable(`the age ${ageUs} is not a safe integer`);
      lastOfSiteUs = correctStampUs({ ageUs, receivedMs: this.trueMs, lastOfSiteUs, seenUs: 0 });
      return lastOfSiteUs / 1000;
    });
  }

  private open(): ReturnType<typeof createLocalTime> {
    return createLocalTime(
      { ...this.last, stampUs: Math.max(this.last.stampUs, this.contactUs) },
      () => this.trueMs + this.offsetMs,
      () => this.trueMs - START_MS,
    );
  }
}

type Step = { readonly passMs: number } | { readonly setMs: number } | 'write' | 'reopen';

const calm: fc.Arbitrary<Step> = fc.oneof(
  fc.constant<Step>('write'),
  fc.constant<Step>('reopen'),
  fc.nat({ max: DAY_MS }).map((passMs) => ({ passMs })),
);
const setting: fc.Arbitrary<Step> = fc.integer({ min: -YEAR_MS, max: YEAR_MS }).map((setMs) => ({ setMs }));

function perform(device: Device, steps: readonly Step[]): void {
  for (const step of steps) {
    if (step === 'write') device.write();
    else if (step === 'reopen') device.reopen();
    else if ('passMs' in step) device.trueMs += step.passMs;
    else device.offsetMs += step.setMs;
  }
}

describe('pending changesets', () => {
  const offset = fc.integer({ min: -YEAR_MS, max: YEAR_MS });

  it('are dated to the time of writing, however wrong the clock is, unless it is set meanwhile', () => {
    fc.assert(
      fc.property(offset, fc.array(calm, { maxLength: 30 }), (offsetMs, steps) => {
        const device = new Device(offsetMs);
        const earlier = device.contact();
        perform(device, steps);
        for (const [index, placedMs] of device.placed(earlier).entries())
          expect(Math.abs(placedMs - device.written[index]!.trueMs)).toBeLessThan(1);
      }),
    );
  });

  it('are dated to the time of writing if the clock is set back, or set in any way while nothing is pending', () => {
    fc.assert(
      fc.property(
        offset,
        offset,
        fc.array(calm, { maxLength: 15 }),
        fc.array(
          calm.filter((step) => step !== 'reopen'),
          { maxLength: 15 },
        ),
        fc.nat({ max: YEAR_MS }),
        (offsetMs, before, idle, steps, backMs) => {
          const device = new Device(offsetMs);
          perform(device, [...idle.filter((step) => step !== 'write'), { setMs: before }]);
          const earlier = device.contact();
          perform(device, ['write', ...steps, { setMs: -backMs }, ...steps]);
          for (const [index, placedMs] of device.placed(earlier).entries())
            expect(Math.abs(placedMs - device.written[index]!.trueMs)).toBeLessThan(1);
        },
      ),
    );
  });

  it('have stamps between the last contact and the time of writing if the clock is set once, with the app open or closed [MR-06]', () => {
    fc.assert(
      fc.property(
        offset,
        fc.array(calm, { maxLength: 15 }),
        setting,
        fc.array(calm, { maxLength: 15 }),
        (offsetMs, before, set, after) => {
          const device = new Device(offsetMs);
          const earlier = device.contact();
          perform(device, [...before, set, ...after]);
          for (const [index, placedMs] of device.placed(earlier).entries()) {
            expect(placedMs).toBeLessThanOrEqual(device.written[index]!.trueMs + CLOCK_TOLERANCE_MS + 1);
            expect(placedMs).toBeGreaterThan(START_MS - CLOCK_TOLERANCE_MS - 1);
          }
        },
      ),
    );
  });

  it('keep their order, and stay between the last contact and their arrival, whatever time the clock is set to', () => {
    fc.assert(
      fc.property(offset, fc.array(fc.oneof(calm, setting), { maxLength: 40 }), (offsetMs, steps) => {
        const device = new Device(offsetMs);
        const earlier = device.contact();
        perform(device, steps);
        let lastMs = START_MS - CLOCK_TOLERANCE_MS - 1;
        for (const placedMs of device.placed(earlier)) {
          expect(placedMs).toBeGreaterThan(lastMs);
          lastMs = placedMs;
        }
        expect(lastMs).toBeLessThan(device.trueMs + 1);
      }),
    );
  });
});

const clocks: Readonly<Record<string, (device: Device, write: number) => void>> = {
  'a year ahead': (device) => void (device.offsetMs = YEAR_MS),
  'a year behind': (device) => void (device.offsetMs = -YEAR_MS),
  'jumping by a year, to and fro': (device, write) => void (device.offsetMs = write % 2 === 0 ? YEAR_MS : -YEAR_MS),
  'going backwards': (device) => void (device.offsetMs -= 2),
  frozen: (device) => void (device.offsetMs = START_MS - device.trueMs),
  'before 1970': (device) => void (device.offsetMs = -2 * START_MS),
  'at the end of time': (device) => void (device.offsetMs = 8.64e15 - device.trueMs),
};

describe('200,000 writes by a clock', () => {
  it.each(Object.entries(clocks))(
    'are stamped in order, and dated no later than the time of writing: a clock that is %s [MR-05]',
    (_name, set) => {
      const device = new Device(0);
      const earlier = device.contact();
      for (let write = 0; write < 200_000; write++) {
        device.trueMs++;
        set(device, write);
        if (write % 10_000 === 0) device.reopen();
        device.write();
      }
      expect(
        device.written.every(
          ({ stampUs }, index) => Number.isSafeInteger(stampUs) && stampUs > (device.written[index - 1]?.stampUs ?? 0),
        ),
      ).toBe(true);
      expect(device.last.stampUs).toBeLessThan(LATEST_STAMP_US + 200_000);
      const late = device
        .placed(earlier)
        .filter((placedMs, index) => placedMs > device.written[index]!.trueMs + CLOCK_TOLERANCE_MS);
      expect(late.length).toBe(0);
    },
  );
});
