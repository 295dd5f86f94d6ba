import type { OutgoingMail } from '#libs/domain/people';
import type { VaultCipher } from '../vault/index.js';

/** A mail that waits to be sent, under the vault key and bound to its row: moved to another one it does not open. */
export class SealedMails {
  constructor(private readonly cipher: VaultCipher) {}

  seal(id: string, mail: OutgoingMail): Buffer {
    return this.cipher.seal(Buffer.from(JSON.stringify(mail)), placeOf(id));
  }

  open(id: string, sealed: Uint8Array): OutgoingMail {
    return JSON.parse(this.cipher.open(sealed, placeOf(id)).toString()) as OutgoingMail;
  }
}

const placeOf = (id: string): readonly string[] => ['service/mail/v1', id];
