import { type LetterReader, openLetter } from '../../shared/letters/read.ts';
import type { LetterRights } from '../../shared/letters/rights.ts';
import type { DeadLetter } from '../../shared/letters/write.ts';
import type { PushedMessage } from '../../shared/model/record.ts';
import { pushedMessage } from './pushed-message.ts';

/** Rights that leave a letter nothing to be refused for. */
export const ANY_LETTER: LetterRights = { mayWriteTo: () => true, mayDeleteRow: true };

/** A letter as the topic for replays pushes it, much later. */
export const pushedLetter = ({ data, attributes }: DeadLetter, given: Partial<PushedMessage> = {}): PushedMessage =>
  pushedMessage({
    messageId: 'letter',
    publishTimeMicros: 1_800_000_000_000_000n,
    subscription: 'projects/p/subscriptions/letters',
    data,
    attributes,
    ...given,
  });

/** The message that a letter is opened to. */
export const returnedLetter = (letter: DeadLetter, reader: Partial<LetterReader> = {}): PushedMessage =>
  openLetter(pushedLetter(letter), { pipeline: 'orders', acceptLettersOf: [], form: 'entry', ...reader });
