/** For servers of tests that speak TLS, with the authority that has signed them. */
export {
  EXPIRED_CERTIFICATE,
  GOOD_CERTIFICATE,
  OTHER_CERTIFICATE,
  SELF_SIGNED_CERTIFICATE,
  TEST_AUTHORITY,
} from '../../libs/infra/src/egress/testing/certificates.js';
