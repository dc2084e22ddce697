import { describe, expect, it } from 'vitest';
import { WriterTurns } from './writer-turns.ts';

describe('turns at the writer', () => {
  it('let a job run at once while nobody holds one', () => {
    const done: string[] = [];
    new WriterTurns().take(() => done.push('job'));
    expect(done).toEqual(['job']);
  });

  it('make everything wait for the end of a held one, in the order of coming', () => {
    const turns = new WriterTurns();
    const done: string[] = [];
    let release = (): void => undefined;
    turns.hold((letGo) => (release = letGo));
    turns.take(() => done.push('first'));
    turns.hold((letGo) => {
      done.push('second begins');
      release = letGo;
    });
    turns.take(() => done.push('third'));
    expect(done).toEqual([]);
    release();
    expect(done).toEqual(['first', 'second begins']);
    release();
    expect(done).toEqual(['first', 'second begins', 'third']);
    expect(turns.isHeld).toBe(false);
  });

  it('put what a waiting job causes behind the others that wait', () => {
    const turns = new WriterTurns();
    const done: string[] = [];
    let release = (): void => undefined;
    turns.hold((letGo) => (release = letGo));
    turns.take(() => {
      done.push('first');
      turns.take(() => done.push('caused'));
    });
    turns.take(() => done.push('second'));
    release();
    expect(done).toEqual(['first', 'second', 'caused']);
  });

  it('pass over one that was given up, and one that ends as it begins', () => {
    const turns = new WriterTurns();
    const done: string[] = [];
    let release = (): void => undefined;
    turns.hold((letGo) => (release = letGo));
    const giveUp = turns.hold(() => done.push('given up'));
    turns.hold((letGo) => {
      done.push('fails');
      letGo();
    });
    turns.take(() => done.push('last'));
    giveUp();
    release();
    expect(done).toEqual(['fails', 'last']);
  });
});
