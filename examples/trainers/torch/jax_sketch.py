#!/usr/bin/env python3
"""How DP-SGD looks in JAX, with the Python kit. A sketch: it has not been run here, where there is
no JAX. The model is a linear one on made-up records; loss() and the start weights are what to
replace. study.yaml fits it, with 'records: 2000' and a command that names this file."""
import jax
import jax.numpy as jnp

import dpareto

RECORDS, FEATURES, CLASSES = 2000, 20, 4


def loss(weights, x, label):
    """Of one record."""
    return -jax.nn.log_softmax(x @ weights["w"] + weights["b"])[label]


@jax.jit
def clipped_sum(weights, x, labels, chosen, clip):
    """All records are looked at and those of the lot counted: shapes must not depend on it."""
    each = jax.vmap(jax.grad(loss), in_axes=(None, 0, 0))(weights, x, labels)
    squares = sum(jnp.sum(g.reshape(len(x), -1) ** 2, axis=1)
                  for g in jax.tree_util.tree_leaves(each))
    scale = chosen * jnp.minimum(1.0, clip / jnp.maximum(jnp.sqrt(squares), 1e-30))
    return jax.tree_util.tree_map(lambda g: jnp.tensordot(scale, g, axes=1), each)


def noisy(key, total, deviation):
    leaves, shape = jax.tree_util.tree_flatten(total)
    keys = jax.random.split(key, len(leaves))
    return jax.tree_util.tree_unflatten(
        shape, [g + deviation * jax.random.normal(k, g.shape) for k, g in zip(keys, leaves)])


def made_up(key, n):
    label_key, noise_key = jax.random.split(key)
    centres = jax.random.normal(jax.random.PRNGKey(0), (CLASSES, FEATURES))
    labels = jax.random.randint(label_key, (n,), 0, CLASSES)
    return centres[labels] + jax.random.normal(noise_key, (n, FEATURES)), labels


x, labels = made_up(jax.random.PRNGKey(1), RECORDS)
test_x, test_labels = made_up(jax.random.PRNGKey(2), 1000)

with dpareto.trial(epochs=2, lot_size=100, learning_rate=0.5, clip=1.0, noise_multiplier=1.0) as t:
    steps = round(RECORDS / t["lot_size"])
    for run in t.runs:
        # a key holds 64 bits only as two words of 32
        key = jax.random.fold_in(jax.random.PRNGKey(run.seed % 2**32), run.seed // 2**32)
        weights = {"w": jnp.zeros((FEATURES, CLASSES)), "b": jnp.zeros(CLASSES)}
        for epoch in run.path("epochs"):
            for _ in range(steps):
                key, lot_key, noise_key = jax.random.split(key, 3)
                chosen = jax.random.uniform(lot_key, (RECORDS,)) < t["lot_size"] / RECORDS
                total = noisy(noise_key, clipped_sum(weights, x, labels, chosen, t["clip"]),
                              t["clip"] * t["noise_multiplier"])
                weights = jax.tree_util.tree_map(
                    lambda w, g: w - t["learning_rate"] / t["lot_size"] * g, weights, total)
            right = jnp.argmax(test_x @ weights["w"] + weights["b"], axis=1) == test_labels
            run.at(epoch, accuracy=right.mean())
            run.progress(epoch / t["epochs"])
        run.result(accuracy=right.mean())
    t.declare(sampling="poisson", records=RECORDS, lot=t["lot_size"], steps=t["epochs"] * steps,
              noise_over_clip=t["noise_multiplier"])
