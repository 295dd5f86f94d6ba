/** For servers of tests that speak TLS, with the authority that has signed them. */
export { GOOD_CERTIFICATE, TEST_AUTHORITY } from '../../libs/infra/src/egress/testing/certificates.js';
