// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <evenkeel/rearrange/delivery.hpp>
#include <evenkeel/rearrange/delivery_exchange.hpp>
#include <evenkeel/rearrange/exchange.hpp>
#include <evenkeel/rearrange/exchange_algorithm.hpp>
#include <evenkeel/rearrange/field.hpp>
#include <evenkeel/rearrange/links.hpp>
#include <evenkeel/rearrange/node_members.hpp>
#include <evenkeel/rearrange/order.hpp>
#include <evenkeel/rearrange/pair_traffic.hpp>
#include <evenkeel/rearrange/passages.hpp>
#include <evenkeel/rearrange/prediction.hpp>
#include <evenkeel/rearrange/rearrange.hpp>
#include <evenkeel/rearrange/rearrangement.hpp>
#include <evenkeel/rearrange/received.hpp>
#include <evenkeel/rearrange/traffic.hpp>
#include <evenkeel/rearrange/units.hpp>
