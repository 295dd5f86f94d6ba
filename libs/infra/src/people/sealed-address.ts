import type { MailAddress } from '#libs/domain/people';
import type { VaultCipher } from '../vault/index.js';

type Kind = 'person' | 'order' | 'invitation';

/** An address under the vault key, bound to its row: moved to another one it does not open. */
export class SealedAddresses {
  constructor(private readonly cipher: VaultCipher) {}

  seal({ spelling }: MailAddress, kind: Kind, id: string): Buffer {
    return this.cipher.seal(Buffer.from(spelling), placeOf(kind, id));
  }

  open(sealed: Uint8Array, kind: Kind, id: string): string {
    return this.cipher.open(sealed, placeOf(kind, id)).toString();
  }
}

const placeOf = (kind: Kind, id: string): readonly string[] => ['service/address/v1', kind, id];
