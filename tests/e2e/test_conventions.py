"""test_conventions.py - settings of Opacus and TensorFlow Privacy, converted as docs/privacy.md
says, against the epsilons that these projects publish in their own tests."""
import json
import math
import subprocess
import unittest

from harness import LIMIT, program


def answer_to(**query):
    done = subprocess.run([program("dparetoctl"), "epsilon", "--batch"], input=json.dumps(query),
                          capture_output=True, text=True, timeout=LIMIT)
    answer = json.loads(done.stdout)
    assert "epsilon" in answer, answer
    return answer


def epsilon(**query):
    return answer_to(**query)["epsilon"]


def gaussian_epsilon(mu, delta):
    """Least epsilon of the Gaussian mechanism (Balle and Wang 2018, Theorem 8), by bisection."""
    def normal_cdf(x):
        return math.erfc(-x / math.sqrt(2)) / 2
    low, high = 0.0, 100.0
    for _ in range(100):
        middle = (low + high) / 2
        if normal_cdf(mu / 2 - middle / mu) - math.exp(middle) * normal_cdf(-mu / 2 - middle / mu) > delta:
            low = middle
        else:
            high = middle
    return high


def tf_privacy(n, batch_size, noise_multiplier, epochs, delta, **accounting):
    """tf_privacy.compute_dp_sgd_privacy(n, batch_size, noise_multiplier, epochs, delta)"""
    return epsilon(mechanism="dp-sgd", sampling="poisson", records=n, lot=batch_size,
                   steps=math.ceil(epochs * n / batch_size), noise_multiplier=noise_multiplier,
                   delta=delta, **accounting)


def opacus(noise_multiplier, sample_rate, steps, delta, **accounting):
    """So many accountant.step(noise_multiplier=, sample_rate=), then get_epsilon(delta)"""
    return epsilon(mechanism="dp-sgd", sampling="poisson", sample_rate=sample_rate, steps=steps,
                   noise_multiplier=noise_multiplier, delta=delta, **accounting)


# compute_dp_sgd_privacy_test.py of TensorFlow Privacy: n, batch_size, noise_multiplier, epochs,
# delta, epsilon (newer versions: the improved conversion), epsilon (older ones: the classic one)
TF_PRIVACY = [(60000, 150, 1.3, 15, 1e-5, 0.7242234026109595, 0.941870567),
              (100000, 100, 1.0, 30, 1e-7, 1.4154988495444845, 1.70928734)]


# The same file, for compute_dp_sgd_privacy_statement: 1.2 epochs, noise multiplier 0.7, delta 1e-5;
# with microbatches?, rate of Poisson lots (None: each record once an epoch), epsilon by RDP and PLD
TF_STATEMENT = [(False, None, 10.8602036, 10.1224946), (True, None, 26.2880374, 24.7160779),
                (False, 0.01, 3.2391922, 2.4612381), (True, 0.01, 22.5970358, 18.6977407)]


def tf_statement(microbatches, rate, accountant, epochs=1.2, noise_multiplier=0.7, delta=1e-5):
    """Whose number the answer is, and the number."""
    noise = noise_multiplier / 2 if microbatches else noise_multiplier
    if rate is None:
        answer = answer_to(compose=[{"mechanism": "gaussian", "sigma": noise,
                                     "times": math.ceil(epochs)}], delta=delta, accountant=accountant)
    else:
        answer = answer_to(mechanism="dp-sgd", sampling="poisson", sample_rate=rate,
                           steps=math.ceil(epochs / rate), noise_multiplier=noise, delta=delta,
                           accountant=accountant)
    return answer["accountant"], answer["epsilon"]


class TensorFlowPrivacy(unittest.TestCase):
    def test_statement(self):
        """Privacy loss distributions are bounds on grids in both, and agree. Of Renyi orders we
        try more than their list has: ours are below, by little."""
        for microbatches, rate, rdp, pld in TF_STATEMENT:
            with self.subTest((microbatches, rate)):
                _, ours = tf_statement(microbatches, rate, "pld")
                self.assertLess(abs(ours / pld - 1), 1e-4, (ours, pld))
                if rate is not None:
                    name, ours = tf_statement(microbatches, rate, "rdp")
                    self.assertEqual(name, "rdp")
                    self.assertTrue(0.98 * rdp < ours < rdp, (ours, rdp))

    def test_statement_without_sampling(self):
        """Two Gaussian mechanisms are one whose mu is sqrt(2) times theirs. A composition says that
        it is the closed form, whichever accountant was asked for, and is never below it."""
        for microbatches, rate, rdp, _ in TF_STATEMENT:
            if rate is not None:
                continue
            noise = 0.35 if microbatches else 0.7
            exact = gaussian_epsilon(math.sqrt(2) / noise, 1e-5)
            for accountant in "rdp", "pld":
                name, ours = tf_statement(microbatches, rate, accountant)
                self.assertEqual(name, "closed-form")
                self.assertTrue(exact * (1 - 1e-13) < ours < exact * (1 + 1e-12), (ours, exact))
            # what one mechanism says by Renyi divergences is theirs, and says so
            answer = answer_to(mechanism="dp-sgd", sampling="poisson", sample_rate=1, steps=2,
                               noise_multiplier=noise, delta=1e-5, accountant="rdp")
            self.assertEqual(answer["accountant"], "rdp")
            self.assertTrue(0.98 * rdp < answer["epsilon"] < rdp, (answer, rdp))

    def test_rdp(self):
        """Both optima are at whole orders of their list, so that whole orders give the same."""
        for *setting, improved, classic in TF_PRIVACY:
            ours = tf_privacy(*setting, accountant="rdp", orders="integer")
            self.assertLess(abs(ours / improved - 1), 1e-10)
            ours = tf_privacy(*setting, accountant="rdp", orders="integer", conversion="classic")
            self.assertLess(abs(ours / classic - 1), 1e-8)

    def test_ours_are_below(self):
        for *setting, improved, _ in TF_PRIVACY:
            real = tf_privacy(*setting, accountant="rdp")
            self.assertTrue(0.995 * improved < real < improved, (real, improved))
            self.assertLess(tf_privacy(*setting), real)  # privacy loss distributions


class Opacus(unittest.TestCase):
    """opacus/tests/accountants_test.py: noise multiplier 1.5, rate 0.04, delta 1e-5."""

    def test_rdp(self):
        """Opacus tries orders in tenths, we all of them: ours is a little below."""
        ours = opacus(1.5, 0.04, int(90 / 0.04), 1e-5, accountant="rdp")
        self.assertTrue(7.32911117143 * (1 - 5e-4) < ours <= 7.32911117143, ours)

    def test_prv(self):
        """The same kind of numbers as ours by default. Opacus' is an upper bound that may be up to
        twice its eps_error (0.01) above the true one; ours must be within that, and below."""
        ours = opacus(1.5, 0.04, int(90 // 0.04), 1e-5)
        self.assertTrue(6.777395712150674 - 0.02 < ours < 6.777395712150674, ours)


class Steps(unittest.TestCase):
    """What makes a difference although everything seems to be the same."""

    def test_epochs_are_rounded_differently(self):
        """1000 records in lots of 300: TF Privacy counts ceil(10 * 3.33) = 34 steps, Opacus
        10 x 4 at the rate 1/4, a study with 'epochs' 10 x 3."""
        common = dict(mechanism="dp-sgd", sampling="poisson", noise_multiplier=2, delta=1e-5)
        study = epsilon(records=1000, lot=300, epochs=10, **common)
        self.assertEqual(study, epsilon(records=1000, lot=300, steps=30, **common))
        theirs = tf_privacy(1000, 300, 2, 10, 1e-5)
        self.assertEqual(theirs, epsilon(records=1000, lot=300, steps=34, **common))
        self.assertGreater(theirs, study)
        by_opacus = opacus(2, 1 / 4, 40, 1e-5)
        self.assertEqual(by_opacus, epsilon(records=1000, lot=250, epochs=10, **common))


if __name__ == "__main__":
    unittest.main()
