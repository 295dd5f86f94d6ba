// The thread that reads and judges a bundle, so that the page can be used meanwhile. It has no network: the policy of the page
// holds here, too.
import {
  isDigest,
  isId,
  parsePolicy,
  parsePublishedKeySet,
  parseVkey,
  readBundle,
  verifyBundle,
  type VerifyOptions,
} from '#libs/crypto';
import { BundleView, rowOf } from '#libs/evidence';
import type { Answer, Given, Question } from './messages.js';

const PIECE_BYTES = 1_048_576;
/** Enough to tell what stands in the place of a bundle. */
const BEGINNING_BYTES = 512;

/** Slices, and not a stream: Safari's streams cannot be iterated. */
async function* piecesOf(bundle: Blob): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < bundle.size; start += PIECE_BYTES) {
    yield new Uint8Array(await bundle.slice(start, start + PIECE_BYTES).arrayBuffer());
  }
}

const tell = (answer: Answer): void => {
  postMessage(answer);
};

const bytesOf = async (file: Blob): Promise<Uint8Array> => new Uint8Array(await file.arrayBuffer());

/** What is wrong with one of the things that the reader brought, as a sentence that says what to do. */
const readAs = async <Value>(
  sentence: (message: string) => string,
  read: () => Promise<Value> | Value,
): Promise<Value> => {
  try {
    return await read();
  } catch (error) {
    throw new Error(sentence(error instanceof Error ? error.message : String(error)), { cause: error });
  }
};

const KEY_SET = (message: string): string =>
  `The key set ${message}. Save what /.well-known/service/keys.json answers, unchanged.`;
const CHECKPOINT_KEY = (message: string): string =>
  message.endsWith('key_id')
    ? 'The 8 hexadecimal digits of a checkpoint key are not those of its name and key, so one of the three was changed. Copy it whole.'
    : 'A checkpoint key is a name, a plus, 8 hexadecimal digits, a plus and base64. Copy it whole.';
const POLICY = (message: string): string => `The file with the witnesses is no tlog-policy (${message}).`;

/** What the reader brought, read. */
const optionsOf = async (given: Given): Promise<VerifyOptions> => {
  const { org, pins, heads, keySet, checkpointKeys, policy } = given;
  if (!isId('org', org)) throw new Error('The id of an organization begins with org_. Copy it whole.');
  if (!pins.every(isDigest)) throw new Error('A fingerprint is sha256: and 64 hexadecimal digits. Copy it whole.');
  const known = keySet === null ? null : await readAs(KEY_SET, async () => parsePublishedKeySet(await bytesOf(keySet)));
  const keys = await readAs(CHECKPOINT_KEY, () => checkpointKeys.map(parseVkey));
  const witnesses = policy === null ? null : await readAs(POLICY, async () => parsePolicy(await bytesOf(policy)));
  if (witnesses !== null && keys.length === 0 && witnesses.logs.length === 0) {
    throw new Error('Give a checkpoint key, or name the log in the file with the witnesses.');
  }
  return {
    ...{ org, pins, heads },
    ...(known === null ? {} : { keySet: known }),
    ...(keys.length === 0 ? {} : { checkpointKeys: keys }),
    ...(witnesses === null ? {} : { witnesses }),
  };
};

class Judge {
  private bundle: Blob | null = null;
  private view: BundleView | null = null;

  async answer(question: Question): Promise<Answer> {
    switch (question.ask) {
      case 'verdict':
        return this.verdict(question.given);
      case 'rows': {
        const { deeds, evidence } = await this.read();
        return { said: 'rows', rows: deeds.map((deed) => rowOf(evidence.names, deed)) };
      }
      case 'account':
        return { said: 'account', page: (await this.read()).account(question.id)?.page ?? null };
    }
  }

  private async verdict(given: Given): Promise<Answer> {
    this.view = null;
    this.bundle = given.bundle;
    const onProgress = (deeds: number, total: number): void => {
      tell({ said: 'progress', deeds, total });
    };
    const options = { ...(await optionsOf(given)), onProgress };
    const verdict = await verifyBundle(piecesOf(given.bundle), options);
    return { said: 'verdict', verdict, beginning: await bytesOf(given.bundle.slice(0, BEGINNING_BYTES)) };
  }

  private async read(): Promise<BundleView> {
    if (this.bundle === null) throw new Error('No bundle was judged.');
    if (this.view !== null) return this.view;
    this.view = await BundleView.read(readBundle(piecesOf(this.bundle)), () => true);
    return this.view;
  }
}

/** Begins to listen, within a worker. */
export const beginToJudge = (): void => {
  const judge = new Judge();
  addEventListener('message', ({ data }: MessageEvent<Question>) => {
    judge
      .answer(data)
      .then(tell)
      .catch((error: unknown) => {
        tell({ said: 'failure', message: error instanceof Error ? error.message : String(error) });
      });
  });
};
