import { describe, expect, it } from 'vitest';
import { WriterQueue } from './writer-queue.ts';

describe('the writer queue', () => {
  it('runs a job at once while no job holds the connection', () => {
    const done: string[] = [];
    new WriterQueue().take(() => done.push('job'));
    expect(done).toEqual(['job']);
  });

  it('makes other jobs wait for the end of a job that holds the connection, in order of arrival', () => {
    const writerQueue = new WriterQueue();
    const done: string[] = [];
    let release = (): void => undefined;
    writerQueue.hold((letGo) => (release = letGo));
    writerQueue.take(() => done.push('first'));
    writerQueue.hold((letGo) => {
      done.push('second begins');
      release = letGo;
    });
    writerQueue.take(() => done.push('third'));
    expect(done).toEqual([]);
    release();
    expect(done).toEqual(['first', 'second begins']);
    release();
    expect(done).toEqual(['first', 'second begins', 'third']);
    expect(writerQueue.isHeld).toBe(false);
  });

  it('appends the jobs that a waiting job adds to the end of the queue', () => {
    const writerQueue = new WriterQueue();
    const done: string[] = [];
    let release = (): void => undefined;
    writerQueue.hold((letGo) => (release = letGo));
    writerQueue.take(() => {
      done.push('first');
      writerQueue.take(() => done.push('caused'));
    });
    writerQueue.take(() => done.push('second'));
    release();
    expect(done).toEqual(['first', 'second', 'caused']);
  });

  it('skips a job that was given up, and a job that ends as soon as it begins', () => {
    const writerQueue = new WriterQueue();
    const done: string[] = [];
    let release = (): void => undefined;
    writerQueue.hold((letGo) => (release = letGo));
    const giveUp = writerQueue.hold(() => done.push('given up'));
    writerQueue.hold((letGo) => {
      done.push('fails');
      letGo();
    });
    writerQueue.take(() => done.push('last'));
    giveUp();
    release();
    expect(done).toEqual(['fails', 'last']);
  });
});
